// SPDX-License-Identifier: Apache-2.0

package learn

import "testing"

func TestHeldOut(t *testing.T) {
	by10 := newHoldoutSet(&Config{Passes: 2, Holdout: HoldoutConfig{Period: 10}})
	after := newHoldoutSet(&Config{Passes: 1, Holdout: HoldoutConfig{Period: 10, After: 80}})
	off := newHoldoutSet(&Config{Passes: 2, Holdout: HoldoutConfig{Period: 10, Off: true}})
	single := newHoldoutSet(&Config{Passes: 1, Holdout: HoldoutConfig{Period: 10}})
	for n := 1; n <= 100; n++ {
		if got, want := by10.Holds(n), n%10 == 0; got != want {
			t.Errorf("every tenth: example %d: held out %v", n, got)
		}
		if got, want := after.Holds(n), n > 80; got != want {
			t.Errorf("after 80: example %d: held out %v", n, got)
		}
		if off.Holds(n) || single.Holds(n) {
			t.Errorf("example %d is held out, and there is no holdout set", n)
		}
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
