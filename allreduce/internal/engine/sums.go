// SPDX-License-Identifier: Apache-2.0

package engine

// sums remembers the checksums of parts of the result, so that what is passed on
// as it came is not summed again. It is cut like the vector: a part that
// begins in the k-th cut is remembered there.
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

// reset forgets everything.
func (s *sums) reset(bytes, cut int) {
	n := max(1, (bytes+cut-1)/cut)
	if cap(s.sums) < n {
		s.sums = make([]partSum, n)
	}
	s.cut, s.sums = cut, s.sums[:n]
	clear(s.sums)
}

func (s *sums) at(lo int) *partSum { return &s.sums[min(lo/s.cut, len(s.sums)-1)] }

// find is the checksum of the part, if it is remembered.
func (s *sums) find(lo, hi int) (sum uint32, ok bool) {
	p := s.at(lo)
	return p.sum, p.known && p.lo == lo && p.hi == hi
}

// set remembers it.
func (s *sums) set(lo, hi int, sum uint32) { *s.at(lo) = partSum{true, sum, lo, hi} }

// forget drops what the part, which has changed, touches. No part is longer than
// a cut, so one that reaches into this one begins at most one cut before.
func (s *sums) forget(lo, hi int) {
	for i := max(0, lo/s.cut-1); i < len(s.sums) && i*s.cut < max(hi, lo+1); i++ {
		if p := &s.sums[i]; p.lo < hi && lo < p.hi {
			p.known = false
		}
	}
}
