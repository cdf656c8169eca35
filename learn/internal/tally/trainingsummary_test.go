// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"math"
	"testing"
)

func TestTrainingSummary(t *testing.T) {
	best := func(loss float64, known bool) *Validation {
		return &Validation{stop: EarlyStop{Best: loss, Known: known}}
	}
	for _, c := range []struct {
		name   string
		hybrid bool
		passes int
		passed PassLog
		valid  *Validation
		want   string
	}{
		{"no hybrid", false, 6, PassLog{loss: 0.25}, nil, ""},
		{"all passes", true, 6, PassLog{loss: 0.25, best: 6}, nil, "training loss of the model = 0.250000 (pass 6, before its last step)\n"},
		{"stopped early", true, 5, PassLog{loss: 0.25, stop: true, best: 3, bestTraining: 0.5}, nil, "training loss of the model = 0.500000 (pass 3)\n"},
		{"by others", true, 6, PassLog{loss: math.NaN()}, nil, ""},
		{"stopped early by others", true, 6, PassLog{loss: math.NaN(), stop: true}, nil, ""},
		{"validation", false, 6, PassLog{best: 6}, best(0.5, true), "best pass = 6, validation loss = 0.500000\n"},
		{"validation, an earlier pass", false, 6, PassLog{best: 4}, best(0.5, true), "best pass = 4, validation loss = 0.500000 (the model is that of the last pass)\n"},
		{"validation, stopped early", false, 6, PassLog{best: 4, stop: true}, best(0.5, true), "best pass = 4, validation loss = 0.500000\n"},
		{"validation by others", false, 6, PassLog{}, best(0.5, true), ""},
		{"no validation yet", false, 0, PassLog{}, best(0, false), ""},
	} {
		s := &Tally{Passes: c.passes, Passed: c.passed, Valid: c.valid}
		if got := string(s.TrainingSummary(c.hybrid)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
