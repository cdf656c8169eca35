// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/resume"
)

// A straggler is a rank that is slow relative to the size of its shard. It is handed over to a
// standby that has read the shard in less time than the straggler took to read it, or takes for a
// step. The handover is an ordinary end of the epoch. The slow attempt keeps its state until the
// new one has it. If the new one is lost before, the slow one is a member again.

// slowSteps is the number of successive slow steps that make a rank a straggler.
const slowSteps = 2

// handover is the state of a job's handovers.
type handover struct {
	newestStep uint64 // newest step that any rank has reported
	from, to   *attempt
	previous   *attempt // slow attempt whose successor does not have the state yet; nil: none
}

// speed is the speed of an attempt, by its reports.
type speed struct {
	steps  uint64        // newest step that it has reported
	took   time.Duration // time of that step without the exchange
	pace   float64       // took divided by the bytes of the shard, in ns per byte; 0: unknown
	slow   int           // successive slow steps
	handed bool          // it has taken part in a handover, which happens once per attempt
}

// onReport stores the progress of a rank, and starts a handover if there is a straggler.
func (m *Machine) onReport(a *attempt, f *protocol.ReportFrame) {
	j := a.job
	a.progress = f.Progress
	n := f.Progress.Number
	if !j.recovers() || !a.isHolder || f.Epoch != j.epoch || a.wired != j.epoch {
		return
	}
	if r := j.handover.previous; r != nil && r.rank == a.rank && n >= j.wiring.resumeAt.Step {
		m.forgetPrevious(r)
	}
	if !(j.slowFactor > 1) || j.phase != wired || n <= a.steps { // written so that NaN disables handovers
		return
	}
	first := n > j.handover.newestStep
	j.handover.newestStep = max(j.handover.newestStep, n)
	a.steps, a.took, a.pace = n, f.Progress.StepTook, 0
	if a.shard.Bytes > 0 {
		a.pace = float64(f.Progress.StepTook) / float64(a.shard.Bytes)
	}
	if first {
		m.startHandover(j)
	}
	// A rank whose steps are shorter than the median delays no other rank, whatever its pace.
	if j.straggles(a) {
		a.slow++
	} else {
		a.slow = 0
	}
}

// straggles reports whether the newest step of a rank took longer than the median, and its pace is
// above slowFactor times the median. Medians are lower ones over the newest steps of the ranks that
// have reported, at least half of them. All ranks report each step, so this visits them once and
// does not sort: a value is above the median if it is above more than half of the values.
func (j *job) straggles(a *attempt) bool {
	n, paces, times := 0, 0, 0
	for _, b := range j.inOrder {
		if b.pace <= 0 {
			continue
		}
		n++
		if a.pace > j.slowFactor*b.pace {
			paces++
		}
		if a.took > b.took {
			times++
		}
	}
	if 2*n < len(j.inOrder) || n < 2 {
		return false
	}
	return paces > (n-1)/2 && times > (n-1)/2
}

// medianPace returns the lower median of the paces over the newest steps; 0: no rank has reported one.
func (j *job) medianPace() float64 {
	var paces []float64
	for _, a := range j.inOrder {
		if a.pace > 0 {
			paces = append(paces, a.pace)
		}
	}
	if len(paces) == 0 {
		return 0
	}
	slices.Sort(paces)
	return paces[(len(paces)-1)/2]
}

// reads returns the longest time that the attempt has needed for its shard.
func (a *attempt) reads() time.Duration { return max(a.shard.Took, a.took) }

// startHandover ends the epoch in order to hand over the slowest straggler for which there is a
// faster standby.
func (m *Machine) startHandover(j *job) {
	var from, to *attempt
	for _, r := range sortedRanks(j.standbys) {
		a := j.holders[r]
		if a == nil || a.slow < slowSteps || a.handed || from != nil && from.pace >= a.pace {
			continue
		}
		for _, b := range j.standbys[r] {
			if b.ready && !b.handed && b.shard.Took > 0 && b.shard.Took < a.reads() {
				from, to = a, b
				break
			}
		}
	}
	if from == nil {
		return
	}
	j.handover.from, j.handover.to = from, to
	m.endEpoch(j, protocol.Cause{
		Kind: protocol.CauseHandover, Rank: from.rank, Host: from.host,
		Why: fmt.Sprintf("its steps take %.1f times as long as the median, and %s has read its shard in %v instead of %v",
			from.pace/j.medianPace(), to.host, to.shard.Took.Round(time.Millisecond), from.reads().Round(time.Millisecond)),
	})
	m.advance(j)
}

// finishHandover changes the holder when all have answered EPOCH_END. If only the straggler has
// completed the newest step it remains: the others need its results.
func (m *Machine) finishHandover(j *job) {
	from, to := j.handover.from, j.handover.to
	j.handover.from, j.handover.to = nil, nil
	if from == nil || !from.isHolder || !from.answered || m.Conns[to.conn] != to || to.isHolder {
		return
	}
	elsewhere := slices.ContainsFunc(j.members(), func(a *attempt) bool { return a != from && a.position.Compare(from.position) >= 0 })
	if !elsewhere {
		return
	}
	from.handed, to.handed = true, true
	if j.handover.previous != nil {
		m.forgetPrevious(j.handover.previous)
	}
	// The slow attempt remains connected until the new one has reported a step: until then it is
	// the only attempt of the rank that has the state.
	j.clearHolder(from)
	m.standBy(from)
	m.takeRank(to)
	j.handover.previous = from
	m.notifyStandbys(j, from.rank)
	m.log(slog.LevelInfo, "rank handed over", append(to.attrs(), slog.String("from", from.host))...)
}

// forgetPrevious makes the slow attempt of a handover an ordinary standby.
func (m *Machine) forgetPrevious(a *attempt) {
	a.job.handover.previous = nil
	a.wired, a.endSent, a.answered, a.position = protocol.Epoch{}, false, false, resume.Point{}
}
