// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
)

// A batch may begin with features that are hidden from sums. It is still recognised
// as a new batch.
func TestLookaheadRestartsAtANewBatch(t *testing.T) {
	var n lookahead
	long := &feature.Batch{Features: make([]feature.Feature, 1000)}
	n.after(long, &feature.Example{FeatHi: 10})
	n.after(long, &feature.Example{FeatLo: 10, FeatHi: 900})
	short := &feature.Batch{Features: make([]feature.Feature, 40)}
	if got := len(n.after(short, &feature.Example{Hidden: 5, FeatLo: 5, FeatHi: 30})); got != 10 {
		t.Errorf("got %d features ahead, want the 10 behind the example", got)
	}
}

// Over the examples of a batch, lookahead returns each feature behind the first example once and
// in order, and always at least as many of the next features as the example has: 128 to 2048 of them.
func TestLookaheadReturnsEachFeatureOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var n lookahead
		for range rapid.IntRange(1, 3).Draw(t, "batches") {
			b := &feature.Batch{}
			for range rapid.IntRange(1, 12).Draw(t, "examples") {
				lo := uint32(len(b.Features))
				for range rapid.OneOf(rapid.IntRange(1, 90), rapid.IntRange(91, 3000)).Draw(t, "features") {
					b.Features = append(b.Features, feature.Feature{Index: uint32(len(b.Features))})
				}
				b.Examples = append(b.Examples, feature.Example{FeatLo: lo, FeatHi: uint32(len(b.Features))})
			}
			next := b.Examples[0].FeatHi
			for _, ex := range b.Examples {
				next = max(next, ex.FeatHi) // an example of more than 2048 features is not returned as a whole
				for _, f := range n.after(b, &ex) {
					if f.Index != next {
						t.Fatalf("feature %d is returned, want %d", f.Index, next)
					}
					next++
				}
				all := uint32(len(b.Features))
				least := min(ex.FeatHi+min(max(ex.FeatHi-ex.FeatLo, 128), 2048), all)
				if most := min(ex.FeatHi+2048, all); next < least || next > most {
					t.Fatalf("at the example up to feature %d: returned up to %d, want %d to %d", ex.FeatHi, next, least, most)
				}
			}
		}
	})
}
