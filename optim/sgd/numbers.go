// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"iter"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/mem"
)

// numbers gives the weights that occur consecutive numbers from 1, in the order in which they occur first. A weight
// without a number has number 0. numbers is a hash table with open addressing. Its length is any number, so that it grows
// in steps of half its length, in place: it takes 11 to 16 bytes a weight.
type numbers struct {
	slots []uint64 // index<<32 | number, 0 if vacant; a part of the memory that is reserved for them, up to the capacity
	count int      // weights with a number
}

const (
	leastSlots = 1 << 10
	reserved   = 1 << 22 // slots for which memory is reserved at first
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

// home returns the first slot of an index.
func home(index uint32, slots int) int {
	return int(uint64(index) * fibonacci >> 32 * uint64(slots) >> 32)
}

// find returns the slot of an index, or the vacant one where it belongs.
func (n *numbers) find(index uint32) *uint64 {
	for i := home(index, len(n.slots)); ; i++ {
		if i == len(n.slots) {
			i = 0
		}
		if s := &n.slots[i]; *s == 0 || uint32(*s>>32) == index {
			return s
		}
	}
}

// of returns the number of a weight.
func (n *numbers) of(index uint32) uint32 { return uint32(*n.find(index)) }

// add returns the number of a weight, which gets the next one if it has none.
func (n *numbers) add(index uint32) uint32 {
	s := n.find(index)
	if *s == 0 {
		if 4*(n.count+1) > 3*len(n.slots) {
			n.grow()
			s = n.find(index)
		}
		n.count++
		*s = uint64(index)<<32 | uint64(n.count)
	}
	return uint32(*s)
}

// grow makes the table longer by a half. The new slot of an index is behind the old one, except where the old one was
// far from its home. So the slots are moved from the last one to the first, each into the part that is complete; the
// exceptions follow.
func (n *numbers) grow() {
	was := len(n.slots)
	now := was + was/2
	if now > cap(n.slots) {
		n.slots = append(reserve(max(now, 4*cap(n.slots)))[:0], n.slots...)
	}
	slots := n.slots[:now]
	var rest []uint64
	for p := was - 1; p >= 0; p-- {
		s := slots[p]
		if s == 0 {
			continue
		}
		slots[p] = 0
		i := home(uint32(s>>32), now)
		if i < p {
			i = now
		}
		for ; i < now && slots[i] != 0; i++ {
			if uint32(slots[i]) > uint32(s) { // weights that occurred early are frequent: they get the places near their homes
				s, slots[i] = slots[i], s
			}
		}
		if i == now {
			rest = append(rest, s)
			continue
		}
		slots[i] = s
	}
	n.slots = slots
	for _, s := range rest {
		*n.find(uint32(s >> 32)) = s
	}
}

// translate sets dst to the features of src with numbers instead of indices, for as many features as src has. They may
// be the same memory. With adds, each weight gets a number.
func (n *numbers) translate(dst, src []feature.Feature, adds bool) {
	const group = 64 // features whose first slots are prefetched while those before them are translated
	dst = dst[:len(src)]
	n.prefetch(src[:min(group, len(src))])
	for lo := 0; lo < len(src); lo += group {
		hi := min(lo+group, len(src))
		n.prefetch(src[hi:min(hi+group, len(src))])
		for i := lo; i < hi; i++ {
			f := src[i]
			s := n.slots[home(f.Index, len(n.slots))]
			number := uint32(s)
			if s == 0 || uint32(s>>32) != f.Index {
				if adds {
					number = n.add(f.Index)
				} else {
					number = n.of(f.Index)
				}
			}
			dst[i] = feature.Feature{Index: number, Value: f.Value}
		}
	}
}

// prefetch prefetches the first slots of fs into the cache, without waiting.
func (n *numbers) prefetch(fs []feature.Feature) { prefetchSlots(&n.slots[0], len(n.slots), fs) }

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
