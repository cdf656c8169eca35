// SPDX-License-Identifier: Apache-2.0

package maltstage

// touched is a set of weights that remembers the order in which they were added.
type touched struct {
	bits []uint64
	list []uint32
}

func newTouched(n int) touched { return touched{bits: make([]uint64, (n+63)/64)} }

// add puts weight i into the set.
func (t *touched) add(i uint32) {
	if word, bit := &t.bits[i/64], uint64(1)<<(i%64); *word&bit == 0 {
		*word |= bit
		t.list = append(t.list, i)
	}
}

// has reports whether weight i is in the set.
func (t *touched) has(i uint32) bool { return t.bits[i/64]>>(i%64)&1 != 0 }

// clear empties the set.
func (t *touched) clear() {
	for _, i := range t.list {
		t.bits[i/64] = 0
	}
	t.list = t.list[:0]
}

// keep removes the weights for which ok reports false.
func (t *touched) keep(ok func(i uint32) bool) {
	kept := t.list[:0]
	for _, i := range t.list {
		if ok(i) {
			kept = append(kept, i)
		} else {
			t.bits[i/64] &^= 1 << (i % 64)
		}
	}
	t.list = kept
}
