// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"testing"
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
