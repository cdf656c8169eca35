// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/learn/internal/job"
)

// Own passes are passes of asynchronous training: no rank waits for another one at their ends, so the losses, the
// measures and the log of passes are those of this rank. One step of the job follows all of them.

// BeginOwnPass begins a pass of this rank.
func (t *Tally) BeginOwnPass() {
	t.Stats.Holdout.PassLoss, t.Stats.Holdout.PassWeight = 0, 0
	t.Measures.begin()
}

// ValidateOwn measures this rank's part of the validation set with the weights of judge, after an own pass. The part
// may be empty.
func (t *Tally) ValidateOwn(ctx context.Context, judge Judge) error {
	if t.Valid == nil {
		return nil
	}
	return t.Valid.judge(ctx, allreduce.Local(), t.Seen, judge)
}

// EndOwnPass is EndPass for a pass of this rank, with the sums of its learner. The sums over its held-out examples
// stay for the record of the step that follows the last pass.
func (t *Tally) EndOwnPass(own job.Record) {
	own.Stats, own.Range = t.Stats, t.Seen
	t.Job.KeepOwn(own)
	held := t.Stats.Holdout
	t.Measures.keepOwn()
	t.EndPass()
	t.Passed.stop = false // all passes are made
	t.Stats.Holdout = held
	t.Measures.restoreOwn()
}

// EndOwnPasses ends the step that follows the last pass, after Share. The held-out loss of the run is that of the
// last pass over all ranks, and so are the measures. The losses of the validation set are those of the model that
// Exchange has made.
func (t *Tally) EndOwnPasses() error {
	all := &t.Job.All.Stats
	t.Stop.reset()
	t.Stop.endPass(all.Holdout.PassLoss, all.Holdout.PassWeight)
	t.Measures.endPass(t.Passes, true, false)
	t.BeginOwnPass()
	if !t.Fixed {
		t.Seen = t.Job.All.Range
	}
	t.Passed.adopt(*all)
	v := t.Valid
	if v == nil || !v.fresh {
		return nil
	}
	v.lines = fmt.Appendf(v.lines, "mean of the ranks: validation loss = %.6f, %s = %s\n", v.loss/v.weight, v.also, measured(v.all.Value(v.also)))
	return t.PrintValid()
}
