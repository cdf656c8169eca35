// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"log/slog"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/resume"
	"github.com/gvw-project/gvw/internal/spantree/retry"
)

// The loss of a rank in a job that recovers. EPOCH_END ends the epoch, and every live holder
// answers with POSITION. The rank goes to a READY standby, or to the first attempt that becomes
// READY. When every rank has a READY holder and all have answered, EPOCH_START starts the next
// epoch at the newest step that any of them has completed.

// endEpoch sends EPOCH_END to the members that have not got it. While a job ends, COMPLETE ranks do
// not get it.
func (m *Machine) endEpoch(j *job, c protocol.Cause) {
	c.Host, c.Why = protocol.Clip(c.Host, protocol.MaxHost), protocol.Clip(c.Why, protocol.MaxText)
	if j.phase == wired {
		m.enter(j, recovering)
		j.lastEnd.cause, j.lastEnd.at = c, m.Now
		j.losses.newest, j.losses.newestAt, j.losses.newestIn = c, m.Now, j.epoch
		m.log(slog.LevelWarn, "epoch ended", slog.String("job", j.id.String()), slog.String("epoch", j.epoch.String()),
			slog.Int("rank", c.Rank), slog.String("host", c.Host), slog.String("why", c.Why))
		m.inquireEnd(j, c, 0)
	}
	j.changes++
	f := &protocol.EpochEndFrame{Epoch: j.epoch, Cause: c}
	for _, a := range j.members() {
		if a.wired == j.epoch && !a.endSent && !a.complete && a.pullsFrom == nil {
			m.sendEpochEnd(a, f)
		}
	}
}

// sendEpochEnd sends EPOCH_END to a member, which must answer within its LostAfter.
func (m *Machine) sendEpochEnd(a *attempt, f *protocol.EpochEndFrame) {
	m.send(a, f)
	a.endSent, a.endSentAt = true, m.Now
	if !a.answered {
		a.job.lastEnd.unanswered++
	}
}

// onPosition processes the answer to EPOCH_END.
func (m *Machine) onPosition(a *attempt, f *protocol.PositionFrame) {
	j := a.job
	if !j.recovers() || !a.isHolder || a.wired == (protocol.Epoch{}) || f.Epoch != a.wired || a.answered || a.complete {
		return // of an epoch that has been superseded
	}
	a.answered, a.position, a.hasWork = true, resume.Point{Epoch: f.Completed, Step: f.Step}, f.Work
	if a.unknownHistory {
		a.fetchedState = a.position // it may have fetched the state: then it has no results
	}
	if a.endSent {
		j.lastEnd.unanswered--
	} else {
		// This rank was sent EPOCH_END by the server before its restart.
		a.endSent, a.endSentAt = true, m.Now
		m.endEpoch(j, protocol.Cause{Kind: protocol.CauseLost, Rank: -1, Why: "the epoch had ended before this server started"})
	}
	m.pull(a)
	m.advance(j)
}

// advance advances a job as far as its members allow.
func (m *Machine) advance(j *job) {
	switch j.phase {
	case filling:
		m.wire(j)
	case recovering:
		m.startNextEpoch(j)
	case ending:
		m.advanceEnding(j)
	}
}

// startNextEpoch starts the next epoch when all ranks have holders and all have answered.
func (m *Machine) startNextEpoch(j *job) {
	if j.lastEnd.unanswered > 0 || m.inGracePeriod(j) || m.Now.Sub(j.lastEnd.at) < j.losses.retries.Pause() {
		return
	}
	// The order matters. Lost ranks are removed before the holders are counted. An eviction or a
	// handover changes a holder, so both come before the resume point is chosen.
	if m.shrink(j); j.phase == failed || j.accountedFor() < j.total || j.ready < j.native || len(j.holders) == 0 {
		return
	}
	if m.settleCharge(j) {
		return // an attempt was evicted: its loss has been processed
	}
	if a := j.stranded(); a != nil {
		m.evictStranded(a)
		return
	}
	m.finishHandover(j)
	from, missing := resume.Find(j.resumeMembers(), j.path)
	completed := from.Step > j.wiring.resumeAt.Step
	if completed {
		j.clearCutOffs()
	}
	if rank, n := j.losses.retries.Spend(completed, j.lastEnd.cause.Rank, j.contributions(from)); n >= retry.MaxFruitless {
		c := j.lastEnd.cause
		c.Why = fmt.Sprintf("%s; %d epochs since step %d were ended by rank %d without progress on any rank; %s", c.Why, n, from.Step, rank, j.chargeTable())
		m.fail(j, c)
		return
	}
	m.startEpoch(j, from, missing)
}

// resumeMember returns the part of an attempt that decides where an epoch starts.
func (a *attempt) resumeMember() resume.Member {
	return resume.Member{Rank: a.rank, At: a.position, Fetched: a.fetchedState, Current: a.wired == a.job.epoch, Checkpoint: a.checkpoint}
}

// resumeMembers returns that of all members, by rank.
func (j *job) resumeMembers() []resume.Member {
	all := make([]resume.Member, 0, len(j.holders))
	for _, a := range j.members() {
		all = append(all, a.resumeMember())
	}
	return all
}

// path returns what is known of the network from the source to a rank, of the last chargeLasts.
func (j *job) path(rank, source int) resume.Path {
	a, b := j.holders[rank], j.holders[source]
	switch {
	case a.cut(b):
		return resume.CutOff
	case a.from.Host == b.from.Host:
		return resume.Clear
	}
	for _, c := range j.links.charges {
		x, y := c.ends[0].from.Host, c.ends[1].from.Host
		if x == a.from.Host && y == b.from.Host || x == b.from.Host && y == a.from.Host {
			return resume.Suspect
		}
	}
	return resume.Clear
}

// contributions returns the number of members that have answered, are at this point, and have their
// contribution to the next step in hand.
func (j *job) contributions(at resume.Point) (n int) {
	for _, a := range j.holders {
		if a.answered && a.position == at && a.hasWork {
			n++
		}
	}
	return n
}

// watchRecovery fences holders that do not answer EPOCH_END, and fails a job whose lost rank is not
// replaced in time.
func (m *Machine) watchRecovery(j *job) {
	if j.phase != recovering && j.phase != ending || m.inGracePeriod(j) {
		return
	}
	if j.lastEnd.unanswered > 0 {
		for _, a := range j.members() {
			if a.endSent && !a.answered && !a.complete && m.Now.Sub(a.endSentAt) > a.lostAfter && m.Conns[a.conn] == a {
				why := fmt.Sprintf("it has not answered EPOCH_END within %v", a.lostAfter)
				m.send(a, &protocol.FencedFrame{Epoch: j.epoch, Reason: why})
				m.lose(a, events.FaultUnanswered, why)
			}
		}
	}
	for _, r := range sortedRanks(j.losses.vacant) {
		if v := j.losses.vacant[r]; j.holders[r] == nil && m.Now.Sub(v.since) > j.replaceTimeout {
			v.cause.Fault = events.FaultNotReplaced
			v.cause.Why = fmt.Sprintf("%s, and not replaced within %v", v.cause.Why, j.replaceTimeout)
			m.fail(j, v.cause)
			return
		}
	}
	switch {
	case j.phase == recovering && j.losses.retries.Pause() > 0:
		m.startNextEpoch(j) // the pause may have passed; no other event would start the epoch
	case j.phase == ending && j.finish.leaseWaits:
		m.advanceEnding(j)
	}
}
