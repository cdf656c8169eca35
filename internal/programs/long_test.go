// SPDX-License-Identifier: Apache-2.0

//go:build long

package programs

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestScoresOfFourRanks measures what docs/learners.md has. With bsp a seed gives the same model each time.
func TestScoresOfFourRanks(t *testing.T) {
	for _, c := range []struct {
		program, set, measure string
		sign, bound           float64 // sign times the score is at least bound
		args                  string
	}{
		{"nn", "fashion-mini", "accuracy", 1, 0.85, "--classes 10 --standardize --hidden 256 --passes 20 --rule momentum --rate_decay 0.05 -l 0.04 --lambda 0.003 --average --batch 16 --cb_size 200 --random_seed 1"},
		{"nn", "higgs-mini", "auc", 1, 0.79, "--quantile_transform --average --hidden 64,32 --rule momentum -l 0.05 --passes 30 --lambda 0.003 --batch 8 --cb_size 50 --random_seed 1"},
		{"nn", "20news", "accuracy", 1, 0.84, "--classes 20 --text --hidden 64 -l 0.1 --passes 5 --cb_size 100"},
		{"factor", "jester", "rmse", -1, -4.09, "-l 0.01 --rate_decay 0.1 --lambda 0.2 --passes 15 --cb_size 5000"},
	} {
		t.Run(c.set, func(t *testing.T) {
			train, test := dataSet(t, c.set)
			model := filepath.Join(t.TempDir(), "m")
			parallel(t, 4, append([]string{c.program, "-d", train, "-f", model, "--malt", "all", "--sync", "bsp"}, strings.Fields(c.args)...)...)
			if got := measured(t, c.measure, c.program, model, test); c.sign*got < c.bound {
				t.Errorf("%s: got %v, want %v", c.measure, got, c.sign*c.bound)
			}
		})
	}
}
