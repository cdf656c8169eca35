// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"testing"

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
