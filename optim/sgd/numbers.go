// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"iter"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/mem"
)

// numbers gives the weights that occur consecutive numbers from 1, in the order in which they occur first. A weight
// without a number has number 0. numbers is a hash table with open addressing. A weight is in its home bucket, or in a
// later one if all buckets from its home up to that one are full. The number of buckets need not be a power of two, so that
// the table grows in steps of half its length, in place: it takes 11 to 16 bytes a weight.
type numbers struct {
	slots []uint64 // index<<32 | number, 0 if vacant; whole buckets; memory is reserved up to the capacity
	count int      // weights with a number
}

const (
	bucket     = 8 // slots, a cache line; the vacant ones are the last
	leastSlots = 1 << 10
	reserved   = 1 << 22 // slots for which memory is reserved at first
	prefetched = 128     // features whose home buckets are prefetched; buckets_amd64.s has it, too
	fibonacci  = 0x9e3779b97f4a7c15
)

// newNumbers returns the numbers of a table of 2^bits weights, of which none has occurred.
func newNumbers(bits uint) *numbers {
	return &numbers{slots: reserve(min(reserved, max(leastSlots, 2<<bits)))[:leastSlots]}
}

// reserve returns memory for slots, of which only the used part becomes resident.
func reserve(slots int) []uint64 {
	s := make([]uint64, slots)
	mem.Huge(s)
	return s
}

// home returns the home bucket of an index.
func home(index uint32, buckets int) int {
	return int(uint64(index) * fibonacci >> 32 * uint64(buckets) >> 32)
}

// find returns the slot of an index, or the vacant one where it belongs.
func (n *numbers) find(index uint32) *uint64 {
	for i := bucket * home(index, len(n.slots)/bucket); ; i++ {
		if i == len(n.slots) {
			i = 0
		}
		if s := &n.slots[i]; *s == 0 || uint32(*s>>32) == index {
			return s
		}
	}
}

// add returns the number of a weight, which gets the next one if it has none.
func (n *numbers) add(index uint32) uint32 {
	s := n.find(index)
	if *s == 0 {
		if n.count >= n.room() {
			n.grow()
			s = n.find(index)
		}
		n.count++
		*s = uint64(index)<<32 | uint64(n.count)
	}
	return uint32(*s)
}

// grow makes the table longer by a half. The new bucket of an index is behind the old one, except where the old one was
// far from its home. So the buckets are emptied from the last one to the first, into the part that is complete; the
// exceptions follow.
func (n *numbers) grow() {
	was := len(n.slots)
	now := (was + was/2) / bucket * bucket
	if now > cap(n.slots) {
		n.slots = append(reserve(max(now, 4*cap(n.slots)))[:0], n.slots...)
	}
	slots := n.slots[:now]
	var rest []uint64
	for p := was - bucket; p >= 0; p -= bucket {
		b := (*[bucket]uint64)(slots[p:])
		old := *b
		*b = [bucket]uint64{}
		for _, s := range old {
			if s == 0 {
				break
			}
			i := bucket * home(uint32(s>>32), now/bucket)
			if i < p {
				i = now
			}
			for ; i < now; i += bucket {
				if s = put((*[bucket]uint64)(slots[i:]), s); s == 0 {
					break
				}
			}
			if s != 0 {
				rest = append(rest, s)
			}
		}
	}
	n.slots = slots
	for _, s := range rest {
		*n.find(uint32(s >> 32)) = s
	}
}

// put stores a slot in a bucket and returns 0. If the bucket is full, put returns the one with the largest number, for a
// bucket behind it: weights that occurred early are frequent, so they stay in their homes.
func put(b *[bucket]uint64, s uint64) uint64 {
	if b[bucket-1] == 0 {
		used := 0
		for _, t := range b[:bucket-1] { // all of them: a processor would mispredict an early end
			if t != 0 {
				used++
			}
		}
		b[used&(bucket-1)] = s
		return 0
	}
	for i, t := range b {
		if uint32(t) > uint32(s) {
			b[i], s = s, t
		}
	}
	return s
}

// translate sets dst to the features of src with numbers instead of indices, for as many features as src has. They may
// be the same memory. With adds, each weight gets a number.
func (n *numbers) translate(dst, src []feature.Feature, adds bool) {
	dst = dst[:len(src)]
	n.prefetch(src[:min(prefetched, len(src))])
	for len(src) > 0 {
		done := n.translateSome(dst, src, adds)
		if dst, src = dst[done:], src[done:]; len(src) > 0 {
			n.grow()
		}
	}
}

// room returns the number of weights at which the table grows before it takes another one.
func (n *numbers) room() int { return 3 * len(n.slots) / 4 }

// translateEach is translate up to a feature whose weight needs a longer table. done is the number of features before it.
func (n *numbers) translateEach(dst, src []feature.Feature, adds bool) (done int) {
	room := n.room()
	for i, f := range src {
		if i%prefetched == 0 {
			n.prefetch(src[min(i+prefetched, len(src)):min(i+2*prefetched, len(src))])
		}
		s := n.find(f.Index)
		if *s == 0 && adds {
			if n.count >= room {
				return i
			}
			n.count++
			*s = uint64(f.Index)<<32 | uint64(n.count)
		}
		dst[i] = feature.Feature{Index: uint32(*s), Value: f.Value}
	}
	return len(src)
}

// prefetch prefetches the home buckets of fs into the cache, without waiting.
func (n *numbers) prefetch(fs []feature.Feature) {
	prefetchBuckets(&n.slots[0], len(n.slots)/bucket, fs)
}

// all yields the index and the number of each weight, in no particular order.
func (n *numbers) all() iter.Seq2[uint32, int] {
	return func(yield func(uint32, int) bool) {
		for _, s := range n.slots {
			if s != 0 && !yield(uint32(s>>32), int(uint32(s))) {
				return
			}
		}
	}
}

// restore replaces numbers by indices.
func (n *numbers) restore() func(fs []feature.Feature) {
	indices := make([]uint32, n.count+1)
	for index, k := range n.all() {
		indices[k] = index
	}
	return func(fs []feature.Feature) {
		for i := range fs {
			fs[i].Index = indices[fs[i].Index]
		}
	}
}
