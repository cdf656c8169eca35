// SPDX-License-Identifier: Apache-2.0

package vectors

import (
	"context"
	"testing"
	"time"

	"github.com/gvw-project/gvw/bench/internal/task"
)

// Four ranks learn a small task in all synchronies, with and without a loss, to about the same objective.
func TestTraining(t *testing.T) {
	small := task.Dense()
	small.Examples, small.Rate, small.Passes, small.Batch = small.Examples[:2000], 1_000_000, 3, 100
	for _, r := range []training{
		{sync: "bsp"},
		{sync: "asp"},
		{sync: "ssp:2"},
		{sync: "notify_ack"},
		{sync: "bsp", kill: 0.5, killRank: 3},
	} {
		r.Task, r.ranks, r.graph = small, 4, "all"
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		got, err := r.run(ctx)
		stop()
		if err != nil {
			t.Fatal(err)
		}
		if got.last() > 0.6 {
			t.Errorf("%s, kill %g: got the objective %g, want at most 0.6", r.sync, r.kill, got.last())
		}
		if s := got.states[len(got.states)-1]; s.bytes == 0 || s.examples != 1500 {
			t.Errorf("%s: got %d bytes and %d examples, want some and 1500", r.sync, s.bytes, s.examples)
		}
	}
}
