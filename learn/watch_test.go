// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"testing"

	"github.com/gvw-project/gvw/learn/internal/tally"
)

// A batch solver reports in each pass the loss of the newest whole pass, which the log of passes has, too. In a hybrid training the
// loss of SGD's passes is the mean so far.
func TestProgressOfSolvers(t *testing.T) {
	for name, set := range map[string]func(*Config){
		"L-BFGS": func(c *Config) { c.Batch.BFGS = true },
		"CG":     func(c *Config) { c.Batch.ConjugateGradient = true },
		"hybrid": func(c *Config) { c.Passes, c.Hybrid = 0, &Hybrid{SGDPasses: 2, LBFGSPasses: 6} },
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			var seen []Progress
			c := Config{
				Data:        DataConfig{Inputs: []Input{textInput("all", randomText(5000))}},
				Features:    FeatureConfig{Bits: 10},
				Holdout:     HoldoutConfig{Off: true},
				Loss:        LossConfig{Function: "logistic"},
				Passes:      8,
				Metrics:     MetricsConfig{PassLog: &log},
				Diagnostics: DiagnosticsConfig{Watch: func(p Progress) { seen = append(seen, p) }},
			}
			set(&c)
			r, err := Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			logged := lines(t, log.String())
			if len(logged) != r.Passes {
				t.Fatalf("the log has %d passes of %d", len(logged), r.Passes)
			}
			passes := map[int]bool{}
			for _, p := range seen {
				if p.Passes != 8 {
					t.Fatalf("%+v: want 8 passes", p)
				}
				var before tally.PassLine
				if p.Pass > 1 {
					before = logged[p.Pass-2]
				}
				if before.Method == "" || before.Method == "SGD" {
					continue
				}
				passes[p.Pass] = true
				if before.Loss == nil {
					t.Fatalf("pass %d has no loss in the log", before.Pass)
				}
				if p.Of != 5000 || p.Loss != *before.Loss {
					t.Errorf("%+v: want loss %v, that of the pass before, and a pass of 5000 examples", p, *before.Loss)
				}
			}
			if len(passes) < 3 {
				t.Errorf("%d passes after one of the solver were watched: %+v", len(passes), seen)
			}
		})
	}
}
