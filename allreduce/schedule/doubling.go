// SPDX-License-Identifier: Apache-2.0

package schedule

import "math/bits"

// fold maps the ranks of a job to a power of two of places, as recursive doubling needs.
// The first 2·extra ranks share places in pairs; each other rank has its own. So a place
// holds adjacent ranks, and places are in the order of the ranks.
type fold struct{ places, extra int }

func foldOf(size int) fold {
	places := 1 << (bits.Len(uint(size)) - 1)
	return fold{places, size - places}
}

// place returns the place of rank.
func (f fold) place(rank int) int {
	if rank < 2*f.extra {
		return rank / 2
	}
	return rank - f.extra
}

// first returns the first rank of a place; for the place after the last, Size.
func (f fold) first(place int) int {
	if place < f.extra {
		return 2 * place
	}
	return place + f.extra
}

// paired reports whether two ranks share the place.
func (f fold) paired(place int) bool { return place < f.extra }

// leader returns the rank that exchanges messages for a place.
func (f fold) leader(place int) int {
	if f.paired(place) {
		return 2*place + 1
	}
	return place + f.extra
}

// doubling returns the program of recursive doubling: ranks at distance 1, 2, 4, …
// exchange their sums. The first rank of a pair sends its contribution to the
// second before, and receives the result after.
func (s Spec) doubling(rank int) *Program {
	b, f := s.builder(rank), foldOf(s.Size)
	place := f.place(rank)
	if rank != f.leader(place) {
		b.add(Give, rank+1, 0, s.Bytes)
		b.add(Take, rank+1, 0, s.Bytes)
		return b.seal()
	}
	if f.paired(place) {
		b.add(Below, rank-1, 0, s.Bytes)
	}
	for d := 1; d < f.places; d *= 2 {
		peer := f.leader(place ^ d)
		b.add(Give, peer, 0, s.Bytes)
		b.add(joinFrom(peer, rank), peer, 0, s.Bytes)
	}
	if f.paired(place) {
		b.add(Give, rank-1, 0, s.Bytes)
	}
	return b.seal()
}

// joinFrom returns the act that joins the sum of a peer all of whose ranks are on its side of rank.
func joinFrom(peer, rank int) Act {
	if peer < rank {
		return Below
	}
	return Above
}
