// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// A rank that is slow, though its shard is no larger than it should be, is handed
// over to an attempt that stands by and has read the shard in less time than the rank
// took to read it, or takes for it now. That is an ordinary end of the epoch. The slow attempt keeps its state until the new one
// has it, and is a member again if the new one is lost before.

// slowSteps is for how many steps in a row a rank must be slow.
const slowSteps = 2

// handover is what a job keeps of it.
type handover struct {
	newestStep uint64 // the newest step that a rank has reported
	from, to   *attempt
	previous   *attempt // it was handed over, and its successor is not whole yet
}

// speed is what reports tell of an attempt.
type speed struct {
	steps  uint64        // the newest that it has reported
	took   time.Duration // for that step, without the exchange
	pace   float64       // the same for a byte of the shard, in ns; 0: not known
	slow   int           // steps in a row
	handed bool          // it has taken part in a hand-over, and does so once
}

// onReport takes progress, and looks for who is slow.
func (m *Machine) onReport(a *attempt, f *protocol.ReportFrame) {
	j := a.job
	a.progress = f.Progress
	n := f.Progress.Number
	if !j.recovers() || !a.isHolder || f.Epoch != j.epoch || a.wired != j.epoch {
		return
	}
	if r := j.handover.previous; r != nil && r.rank == a.rank && n >= j.wiring.resumeAt.step {
		m.forgetPrevious(r)
	}
	if !(j.slowFactor > 1) || j.phase != wired || n <= a.steps {
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
	// One whose step is short holds nobody up, however little it has read.
	if pace, took := j.medians(); pace > 0 && a.pace > j.slowFactor*pace && a.took > took {
		a.slow++
	} else {
		a.slow = 0
	}
}

// medians are the lower medians of what is known of the newest steps: time for a byte, and
// time. They are 0 if that is of less than half of the ranks.
func (j *job) medians() (pace float64, took time.Duration) {
	var paces []float64
	var times []time.Duration
	for _, a := range j.holders {
		if a.pace > 0 {
			paces, times = append(paces, a.pace), append(times, a.took)
		}
	}
	n := len(paces)
	if 2*n < len(j.holders) || n < 2 {
		return 0, 0
	}
	slices.Sort(paces)
	slices.Sort(times)
	return paces[(n-1)/2], times[(n-1)/2]
}

// reads is the longest that an attempt is known to take for its shard.
func (a *attempt) reads() time.Duration { return max(a.shard.Took, a.took) }

// relieve ends the epoch in order to hand over the slowest rank for which a
// faster attempt stands by.
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
	pace, _ := j.medians()
	m.endEpoch(j, protocol.Cause{
		Kind: protocol.CauseHandover, Rank: from.rank, Host: from.host,
		Why: fmt.Sprintf("its steps take %.1f times as long as those of most others, and %s has read its shard in %v instead of %v",
			from.pace/pace, to.host, to.shard.Took.Round(time.Millisecond), from.reads().Round(time.Millisecond)),
	})
	m.advance(j)
}

// handOver changes the holder, now that all have answered. It does not if the
// slow rank alone has completed the newest step: then it is needed.
func (m *Machine) finishHandover(j *job) {
	from, to := j.handover.from, j.handover.to
	j.handover.from, j.handover.to = nil, nil
	if from == nil || !from.isHolder || !from.answered || m.Conns[to.conn] != to || to.isHolder {
		return
	}
	elsewhere := slices.ContainsFunc(j.members(), func(a *attempt) bool { return a != from && a.position.compare(from.position) >= 0 })
	if !elsewhere {
		return
	}
	from.handed, to.handed = true, true
	if j.handover.previous != nil {
		m.forgetPrevious(j.handover.previous)
	}
	j.clearHolder(from)
	m.standBy(from)
	m.takeRank(to)
	j.handover.previous = from
	m.tellStandbys(j, from.rank)
	m.log(slog.LevelInfo, "rank handed over", append(to.attrs(), slog.String("from", from.host))...)
}

// release makes an attempt that was handed over one that just stands by.
func (m *Machine) forgetPrevious(a *attempt) {
	a.job.handover.previous = nil
	a.wired, a.endSent, a.answered, a.position = protocol.Epoch{}, false, false, point{}
}
