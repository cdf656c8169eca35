// SPDX-License-Identifier: Apache-2.0

package tally

import "github.com/gvw-project/gvw/learn/internal/job"

// Own passes are passes of asynchronous training: no rank waits for another one at their ends, so the losses and
// the log of passes are those of this rank. One step of the job follows all of them.

// BeginOwnPass begins a pass of this rank.
func (t *Tally) BeginOwnPass() {
	t.Stats.Holdout.PassLoss, t.Stats.Holdout.PassWeight = 0, 0
}

// EndOwnPass is EndPass for a pass of this rank, with the sums of its learner. The sums over its held-out examples
// stay for the record of the step that follows the last pass.
func (t *Tally) EndOwnPass(own job.Record) {
	own.Stats, own.Range = t.Stats, t.Seen
	t.Job.KeepOwn(own)
	held := t.Stats.Holdout
	t.EndPass()
	t.Stats.Holdout = held
}

// EndOwnPasses ends the step that follows the last pass, after Share. The held-out loss of the run is that of the
// last pass over all ranks.
func (t *Tally) EndOwnPasses() {
	all := &t.Job.All.Stats
	t.Stop.reset()
	t.Stop.endPass(all.Holdout.PassLoss, all.Holdout.PassWeight)
	t.BeginOwnPass()
	if !t.Fixed {
		t.Seen = t.Job.All.Range
	}
	t.Passed.adopt(*all)
}
