// SPDX-License-Identifier: Apache-2.0

package members

import (
	"testing"

	"pgregory.net/rapid"
)

// TestPositionsAndRanksAreInverse checks both directions of the mapping for any members, and
// that ranks that are no members have no position.
func TestPositionsAndRanksAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(1, 100).Draw(t, "total")
		var live Set
		for _, rank := range All(total) {
			if rapid.Bool().Draw(t, "member") {
				live = append(live, rank)
			}
		}
		if live == nil {
			live = Set{}
		}
		position := 0
		for _, rank := range All(total) {
			got := live.Position(rank)
			switch {
			case position < len(live) && live[position] == rank:
				if got != position || live.Rank(got) != rank {
					t.Fatalf("%v: rank %d: got position %d with rank %d, want position %d", live, rank, got, live.Rank(got), position)
				}
				position++
			case got >= 0:
				t.Fatalf("%v: rank %d is no member: got position %d", live, rank, got)
			}
		}
		if got := live.Rank(-1); got != -1 {
			t.Fatalf("position -1: got rank %d, want -1", got)
		}
	})
}

func TestNilSetMapsPlacesToThemselves(t *testing.T) {
	for place := range 4 {
		if got := Set(nil).Position(place); got != place {
			t.Errorf("place %d: got position %d", place, got)
		}
		if got := Set(nil).Rank(place); got != place {
			t.Errorf("place %d: got rank %d", place, got)
		}
	}
}

func TestNameEscapesTheHost(t *testing.T) {
	for host, want := range map[string]string{
		"":          "rank 7",
		"h7:26550":  "rank 7 (h7:26550)",
		"h\x1b[2J7": "rank 7 (h\\x1b[2J7)",
	} {
		if got := Name(7, host); got != want {
			t.Errorf("%q: got %q, want %q", host, got, want)
		}
	}
}
