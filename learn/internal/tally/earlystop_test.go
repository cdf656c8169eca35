// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// Three passes without a better loss end the training. The curvature pass of L-BFGS counts as
// one, since it has the weights of the pass before. A pass whose loss improves by
// less than the precision of a float32 counts, too.
func TestHoldoutPatience(t *testing.T) {
	h := EarlyStop{On: true, Patience: 3}
	for pass, c := range []struct {
		loss         float64
		better, stop bool
	}{{0.5, true, false}, {0.5, false, false}, {0.4, true, false}, {0.41, false, false}, {0.42, false, false}, {0.4 - 1e-12, false, true}} {
		better, stop := h.endPass(c.loss*2, 2)
		if better != c.better || stop != c.stop {
			t.Errorf("pass %d: better %v, stop %v", pass, better, stop)
		}
	}
	if want := float64(float32(0.4)); h.Best != want {
		t.Errorf("best loss %v, want %v", h.Best, want)
	}
}

// Passes without held-out examples end training, too: as in vw, the first one
// counts as better than none.
func TestHoldoutOfNothing(t *testing.T) {
	h := EarlyStop{On: true, Patience: 2}
	for pass, want := range []struct{ better, stop bool }{{true, false}, {false, false}, {false, true}} {
		if better, stop := h.endPass(0, 0); better != want.better || stop != want.stop {
			t.Errorf("pass %d: better %v, stop %v", pass, better, stop)
		}
	}
	if h.Known {
		t.Error("a loss of nothing is known")
	}
}

// Each decision is that of its definition: a pass is better if its loss is below all before it,
// and training stops after as many passes without a better one as Patience has. A state that is
// written and read in between changes nothing.
func TestEarlyStopFollowsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := EarlyStop{On: true, Patience: rapid.IntRange(1, 4).Draw(t, "patience")}
		losses := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0.25, 0.5, 0.5 + 1e-12, 1}), 1, 12).Draw(t, "losses")
		moved := rapid.IntRange(0, len(losses)).Draw(t, "pass before which the state moves")
		best, without := math.Inf(1), 0
		for pass, loss := range losses {
			if pass == moved {
				w := snapshot.Encode(nil)
				h.code(&w)
				h = EarlyStop{On: true, Patience: h.Patience}
				r := snapshot.Decode(w.Bytes())
				h.code(&r)
				if err := r.End("the passes"); err != nil {
					t.Fatal(err)
				}
			}
			mean := float64(float32(loss))
			wantBetter := mean < best
			if without++; wantBetter {
				best, without = mean, 0
			}
			better, stop := h.endPass(loss*3, 3)
			if wantStop := without >= h.Patience; better != wantBetter || stop != wantStop {
				t.Fatalf("pass %d: better %v, stop %v, want %v, %v", pass, better, stop, wantBetter, wantStop)
			}
			if h.Best != best || !h.Known {
				t.Fatalf("pass %d: best %v, known %v, want %v", pass, h.Best, h.Known, best)
			}
		}
		off := EarlyStop{Patience: 1}
		if better, stop := off.endPass(1, 1); better || stop {
			t.Fatal("a rule that is off has decided")
		}
	})
}
