// SPDX-License-Identifier: Apache-2.0

package reductions

import (
	"os"
	"regexp"
	"testing"
)

// scripts/runvw.sh adds --hybrid to the options of learners that have L-BFGS: none of these.
func TestRunvwKnowsAllLearners(t *testing.T) {
	script, err := os.ReadFile("../../../scripts/runvw.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range All {
		if !regexp.MustCompile(`[|"]` + s.Name + `[|"]`).Match(script) {
			t.Errorf("--%s is not among the options that scripts/runvw.sh leaves alone", s.Name)
		}
	}
}
