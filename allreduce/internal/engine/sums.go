// SPDX-License-Identifier: Apache-2.0

package engine

// sums remembers the checksums of parts of the result. A rank that passes on a part unchanged need not
// compute its checksum again, which would cost one more pass over memory. The slice is cut
// like the vector: the part that begins in the k-th cut has entry k.
type sums struct {
	cut  int
	sums []partSum
}

// partSum is the checksum of a part.
type partSum struct {
	known  bool
	sum    uint32
	lo, hi int
}

// reset forgets everything, for a vector of so many bytes in cuts of cut bytes.
func (s *sums) reset(bytes, cut int) {
	n := max(1, (bytes+cut-1)/cut)
	if cap(s.sums) < n {
		s.sums = make([]partSum, n)
	}
	s.cut, s.sums = cut, s.sums[:n]
	clear(s.sums)
}

func (s *sums) at(lo int) *partSum { return &s.sums[min(lo/s.cut, len(s.sums)-1)] }

// find returns the checksum of a part, if it is remembered.
func (s *sums) find(lo, hi int) (sum uint32, ok bool) {
	p := s.at(lo)
	return p.sum, p.known && p.lo == lo && p.hi == hi
}

// set stores the checksum of a part.
func (s *sums) set(lo, hi int, sum uint32) { *s.at(lo) = partSum{true, sum, lo, hi} }

// forget drops the checksums of all parts that overlap lo … hi, which has changed. No part is longer
// than a cut, so an overlapping part begins at most one cut before lo.
func (s *sums) forget(lo, hi int) {
	for i := max(0, lo/s.cut-1); i < len(s.sums) && i*s.cut < max(hi, lo+1); i++ {
		if p := &s.sums[i]; p.lo < hi && lo < p.hi {
			p.known = false
		}
	}
}
