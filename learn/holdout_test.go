// SPDX-License-Identifier: Apache-2.0

package learn

import "testing"

func TestHeldOut(t *testing.T) {
	by10 := newHoldoutSet(&Config{Passes: 2, Holdout: HoldoutConfig{Period: 10}})
	after := newHoldoutSet(&Config{Passes: 1, Holdout: HoldoutConfig{Period: 10, After: 80}})
	off := newHoldoutSet(&Config{Passes: 2, Holdout: HoldoutConfig{Period: 10, Off: true}})
	single := newHoldoutSet(&Config{Passes: 1, Holdout: HoldoutConfig{Period: 10}})
	for n := 1; n <= 100; n++ {
		if got, want := by10.holds(n), n%10 == 0; got != want {
			t.Errorf("every tenth: example %d: held out %v", n, got)
		}
		if got, want := after.holds(n), n > 80; got != want {
			t.Errorf("after 80: example %d: held out %v", n, got)
		}
		if off.holds(n) || single.holds(n) {
			t.Errorf("example %d is held out, and there is no holdout set", n)
		}
	}
}

// Three passes without a better loss end the training; the curvature pass of
// L-BFGS, which sees the same weights as the one before, is one of them, and so is one
// whose loss is better by less than a float32 shows.
func TestHoldoutPatience(t *testing.T) {
	h := earlyStop{on: true, patience: 3}
	for pass, c := range []struct {
		loss         float64
		better, stop bool
	}{{0.5, true, false}, {0.5, false, false}, {0.4, true, false}, {0.41, false, false}, {0.42, false, false}, {0.4 - 1e-12, false, true}} {
		better, stop := h.endPass(c.loss*2, 2)
		if better != c.better || stop != c.stop {
			t.Errorf("pass %d: better %v, stop %v", pass, better, stop)
		}
	}
	if want := float64(float32(0.4)); h.best != want {
		t.Errorf("best loss %v, want %v", h.best, want)
	}
}

// Passes without held-out examples end training, too: as in vw, the first one
// counts as better than none.
func TestHoldoutOfNothing(t *testing.T) {
	h := earlyStop{on: true, patience: 2}
	for pass, want := range []struct{ better, stop bool }{{true, false}, {false, false}, {false, true}} {
		if better, stop := h.endPass(0, 0); better != want.better || stop != want.stop {
			t.Errorf("pass %d: better %v, stop %v", pass, better, stop)
		}
	}
	if h.known {
		t.Error("a loss of nothing is known")
	}
}

// The hybrid holds out the same examples in both phases.
func TestHybridHoldsOutInBothPhases(t *testing.T) {
	c := Config{
		Data:     DataConfig{Inputs: []Input{textInput("text", randomText(600))}},
		Features: FeatureConfig{Bits: 10},
		Loss:     LossConfig{Function: "logistic"},
		Hybrid:   &Hybrid{SGDPasses: 2, LBFGSPasses: 4},
		Reg:      RegConfig{L2: 1},
		Holdout:  HoldoutConfig{Period: 10},
	}
	held, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := held.Stats.Examples, uint64(540*held.Passes); got != want || !held.Holdout {
		t.Errorf("%d examples were learned from in %d passes, want %d", got, held.Passes, want)
	}
	c.Holdout.Period = 0
	all, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := all.Stats.Examples, uint64(600*all.Passes); got != want || all.Holdout {
		t.Errorf("without a holdout option: %d examples in %d passes, want %d", got, all.Passes, want)
	}
}
