// SPDX-License-Identifier: Apache-2.0

package schedule

import "math/bits"

// fold maps the ranks of a job to a power of two of places. The first 2·extra ranks
// stand in pairs, one pair a place; the others have one each. So places hold
// neighbours, in the order of the ranks.
type fold struct{ places, extra int }

func foldOf(size int) fold {
	places := 1 << (bits.Len(uint(size)) - 1)
	return fold{places, size - places}
}

// place is where rank stands.
func (f fold) place(rank int) int {
	if rank < 2*f.extra {
		return rank / 2
	}
	return rank - f.extra
}

// first is the first rank of a place, and of the one after the last place: Size.
func (f fold) first(place int) int {
	if place < f.extra {
		return 2 * place
	}
	return place + f.extra
}

// paired says that two ranks share the place.
func (f fold) paired(place int) bool { return place < f.extra }

// speaker is the rank that acts for a place.
func (f fold) speaker(place int) int {
	if f.paired(place) {
		return 2*place + 1
	}
	return place + f.extra
}

// doubling: ranks at distance 1, 2, 4, … exchange what they have. The first one
// of a pair gives its own before, and takes the sum after.
func (s Spec) doubling(rank int) *Program {
	b, f := s.builder(rank), foldOf(s.Size)
	place := f.place(rank)
	if rank != f.speaker(place) {
		b.add(Give, rank+1, 0, s.Bytes)
		b.add(Take, rank+1, 0, s.Bytes)
		return b.seal()
	}
	if f.paired(place) {
		b.add(Below, rank-1, 0, s.Bytes)
	}
	for d := 1; d < f.places; d *= 2 {
		peer := f.speaker(place ^ d)
		b.add(Give, peer, 0, s.Bytes)
		b.add(joinFrom(peer, rank), peer, 0, s.Bytes)
	}
	if f.paired(place) {
		b.add(Give, rank-1, 0, s.Bytes)
	}
	return b.seal()
}

// joinFrom is how a rank joins what a peer holds for ranks on its side alone.
func joinFrom(peer, rank int) Act {
	if peer < rank {
		return Below
	}
	return Above
}
