// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/resume"
	"github.com/gvw-project/gvw/internal/spantree/retry"
)

// The loss of a rank in a job that recovers. EPOCH_END ends the epoch, and every live holder
// answers with POSITION. The rank goes to a READY standby, or to the first attempt that becomes
// READY. When every rank has a READY holder and all have answered, EPOCH_START starts the next
// epoch at the newest step that any of them has completed.

// sortedRanks returns the keys of a map by rank, so that nothing depends on the order of a map.
func sortedRanks[V any](by map[int]V) []int { return slices.Sorted(maps.Keys(by)) }

// loseHolder processes the loss of a rank's holder.
func (m *Machine) loseHolder(a *attempt, why string) {
	j := a.job
	if m.inGracePeriod(j) {
		// The attempt may reconnect, or another attempt of its rank may join.
		m.log(slog.LevelWarn, "rank disconnected in the grace period", append(a.attrs(), slog.String("why", why))...)
		m.do(CloseConn{a.conn})
		m.forget(a)
		j.departed[a.rank] = departure{host: a.host, why: why, at: m.Now}
		return
	}
	if j.phase == ending && a.complete && len(a.owed) == 0 {
		m.log(slog.LevelInfo, "rank left after its work was done", append(a.attrs(), slog.String("why", why))...)
		m.do(CloseConn{a.conn})
		m.forget(a)
		j.departed[a.rank] = departure{host: a.host, why: why, at: m.Now}
		// Ranks that are not COMPLETE may still need it.
		m.endEpoch(j, lossOf(a, why))
		m.afterLoss(j, a)
		return
	}
	m.log(slog.LevelWarn, "rank lost", append(a.attrs(), slog.String("why", why))...)
	if c := m.vacate(a, why); a.wired == j.epoch {
		m.endEpoch(j, c)
	}
	m.promote(j, a.rank)
	m.afterLoss(j, a)
}

// vacate removes the holder of a rank, which must then be replaced.
func (m *Machine) vacate(a *attempt, why string) protocol.Cause {
	j := a.job
	m.do(CloseConn{a.conn})
	member := a.wired != protocol.Epoch{}
	if a.complete {
		assign(&j.finish.owedByLost, a.rank, a.owed)
	}
	m.forget(a)
	c := lossOf(a, why)
	j.departed[a.rank] = departure{host: a.host, why: why, at: m.Now}
	if j.noAttempts() {
		j.wiring.shards = nil // no attempt is left whose sums depend on these data
	}
	if member {
		j.markVacant(a.rank, m.Now, c)
		// A lease lasts for half of lostAfter from the newest acknowledged heartbeat. The rank counts
		// from the time at which it sent that heartbeat, so its lease ends before this time.
		if until := a.ackedAt.Add(a.lostAfter / 2); until.After(j.losses.leases[a.rank]) {
			assign(&j.losses.leases, a.rank, until)
		}
	}
	return c
}

// lossOf returns the cause of an epoch that the loss of a has ended.
func lossOf(a *attempt, why string) protocol.Cause {
	return protocol.Cause{Kind: protocol.CauseLost, Rank: a.rank, Host: a.host, Why: why}
}

// markVacant records that a rank must be replaced.
func (j *job) markVacant(rank int, now time.Time, c protocol.Cause) {
	if _, ok := j.losses.vacant[rank]; !ok {
		assign(&j.losses.vacant, rank, vacancy{now, c})
	}
}

// assign sets a key of a map that may be nil.
func assign[K comparable, V any](to *map[K]V, k K, v V) {
	if *to == nil {
		*to = map[K]V{}
	}
	(*to)[k] = v
}

// endEpoch sends EPOCH_END to the members that have not got it. While a job ends, COMPLETE ranks do
// not get it.
func (m *Machine) endEpoch(j *job, c protocol.Cause) {
	c.Host, c.Why = protocol.Clip(c.Host, protocol.MaxHost), protocol.Clip(c.Why, protocol.MaxText)
	if j.phase == wired {
		m.enter(j, recovering)
		j.lastEnd.cause, j.lastEnd.at = c, m.Now
		m.log(slog.LevelWarn, "epoch ended", slog.String("job", j.id.String()), slog.String("epoch", j.epoch.String()),
			slog.Int("rank", c.Rank), slog.String("host", c.Host), slog.String("why", c.Why))
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
				m.lose(a, why)
			}
		}
	}
	for _, r := range sortedRanks(j.losses.vacant) {
		if v := j.losses.vacant[r]; j.holders[r] == nil && m.Now.Sub(v.since) > j.replaceTimeout {
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

// noAttempts reports whether no attempt with a rank is left.
func (j *job) noAttempts() bool {
	return j.phase != filling && len(j.holders) == 0 && len(j.standbys) == 0
}

// empty reports whether no attempt is left at all.
func (j *job) empty() bool { return j.noAttempts() && len(j.spares) == 0 }
