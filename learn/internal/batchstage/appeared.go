// SPDX-License-Identifier: Apache-2.0

package batchstage

// appeared numbers weights in the order in which they appear.
type appeared struct {
	indices []uint32 // of the weights, by their numbers
	slots   []slot   // hash table with open addressing; its length is a power of two
	shift   uint     // 64 minus the logarithm of the length
}

// slot has the number of the weight with an index.
type slot struct{ index, number uint32 }

const (
	vacant    = ^uint32(0) // number of a slot without a weight
	leastLog  = 10         // logarithm of the least length of the hash table
	fibonacci = 0x9e3779b97f4a7c15
)

// appearance returns weights that have appeared in this order.
func appearance(indices []uint32) appeared {
	a := appeared{indices: indices}
	a.rebuild()
	return a
}

// rebuild makes the hash table, a quarter to half full.
func (a *appeared) rebuild() {
	log := uint(leastLog)
	for 1<<log < 2*(len(a.indices)+1) {
		log++
	}
	a.slots, a.shift = make([]slot, 1<<log), 64-log
	for i := range a.slots {
		a.slots[i].number = vacant
	}
	for k, index := range a.indices {
		*a.find(index) = slot{index, uint32(k)}
	}
}

// find returns the slot of a weight, or the vacant one where it belongs.
func (a *appeared) find(index uint32) *slot {
	last := uint64(len(a.slots) - 1)
	for i := uint64(index) * fibonacci >> a.shift; ; i = (i + 1) & last {
		if s := &a.slots[i]; s.index == index || s.number == vacant {
			return s
		}
	}
}

// of returns the number of a weight, or the number of weights if it has not appeared.
func (a *appeared) of(index uint32) uint32 {
	if s := a.find(index); s.number != vacant {
		return s.number
	}
	return uint32(len(a.indices))
}

// add returns the number of a weight, which gets the next one if it appears for the first time.
func (a *appeared) add(index uint32) uint32 {
	s := a.find(index)
	if s.number != vacant {
		return s.number
	}
	number := uint32(len(a.indices))
	*s = slot{index, number}
	if a.indices = append(a.indices, index); 2*len(a.indices) > len(a.slots) {
		a.rebuild()
	}
	return number
}
