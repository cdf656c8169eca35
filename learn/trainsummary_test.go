// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gvw-project/gvw/option"
)

// A process that continues from a state has not seen the pass before. It shows no training
// loss until it has completed a pass of its own.
func TestTrainingLossAfterATakeover(t *testing.T) {
	hybrid := func(c *Config) {
		c.Hybrid, c.Reg.L2, c.Batch.Mem = &Hybrid{SGDPasses: 1, LBFGSPasses: 3}, 1, option.Some(2)
	}
	for steps := 1; steps <= 4; steps++ {
		r, m := local(t, small(hybrid))
		for range steps {
			step(t, r, m)
		}
		var state bytes.Buffer
		if err := errors.Join(m.WriteState(&state), r.close()); err != nil {
			t.Fatal(err)
		}
		whole := string(r.tally.TrainingSummary(true))
		r, m = local(t, small(hybrid))
		if err := m.ReadState(&state); err != nil {
			t.Fatal(err)
		}
		if got := r.tally.TrainingSummary(true); len(got) > 0 {
			t.Errorf("after step %d: got %q, want nothing", steps, got)
		}
		for step(t, r, m) {
			whole = ""
		}
		got := string(r.tally.TrainingSummary(true))
		if err := r.close(); err != nil {
			t.Fatal(err)
		}
		if steps < 4 && got == "" || steps == 4 && (got != "" || whole == "") {
			t.Errorf("taken over after step %d: got %q in the end, %q without it", steps, got, whole)
		}
	}
}
