// SPDX-License-Identifier: Apache-2.0

package core

import (
	"log/slog"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// lose processes the end of an attempt: its connection has ended, or it is fenced.
func (m *Machine) lose(a *attempt, f events.Fault, why string) {
	j := a.job
	if a.isHolder {
		j.newestLoss = a
	}
	switch {
	case !a.isHolder:
		m.log(slog.LevelInfo, "standby left", append(a.attrs(), slog.String("why", why))...)
		m.do(CloseConn{a.conn})
		m.forget(a)
		m.closeEmpty(j)
	case j.recovers() && j.phase != filling:
		m.loseHolder(a, f, why)
	case j.phase == filling:
		m.log(slog.LevelWarn, "rank left before the start", append(a.attrs(), slog.String("why", why))...)
		m.leaveFilling(a, f, why)
	case j.phase == ending && a.complete && len(a.owed) == 0:
		// The rank only waited for the others, so its loss has no effect.
		m.log(slog.LevelInfo, "rank left after its work was done", append(a.attrs(), slog.String("why", why))...)
		m.do(CloseConn{a.conn})
		m.forget(a)
		m.advanceEnding(j)
	default:
		m.log(slog.LevelWarn, "rank lost", append(a.attrs(), slog.String("why", why))...)
		m.fail(j, lossOf(a, f, why))
	}
}

// depart records the end of the attempt that was the holder of its rank.
func (m *Machine) depart(a *attempt, f events.Fault, why string) {
	a.job.departed[a.rank] = departure{host: a.host, fault: f, why: why, at: m.Now}
}

// leaveFilling frees a rank of a job that fills. The wiring remains valid: another attempt of the
// rank gets the same place in the tree.
func (m *Machine) leaveFilling(a *attempt, f events.Fault, why string) {
	j := a.job
	m.do(CloseConn{a.conn})
	m.forget(a)
	m.depart(a, f, why)
	m.promote(j, a.rank)
	m.wire(j)
	m.closeEmpty(j)
}

// closeEmpty ends a job that fills and has no attempts left.
func (m *Machine) closeEmpty(j *job) {
	if j.phase == filling && len(j.holders) == 0 && len(j.spares) == 0 {
		m.log(slog.LevelInfo, "job closed: no ranks left", slog.String("job", j.id.String()))
		m.remove(j, jobClosed, j.lastDeparture())
	}
}

// loseHolder processes the loss of a rank's holder.
func (m *Machine) loseHolder(a *attempt, f events.Fault, why string) {
	j := a.job
	if m.inGracePeriod(j) {
		// The attempt may reconnect, or another attempt of its rank may join.
		m.log(slog.LevelWarn, "rank disconnected in the grace period", append(a.attrs(), slog.String("why", why))...)
		m.do(CloseConn{a.conn})
		j.keepLease(a)
		m.forget(a)
		m.depart(a, f, why)
		return
	}
	if j.phase == ending && a.complete && len(a.owed) == 0 {
		m.log(slog.LevelInfo, "rank left after its work was done", append(a.attrs(), slog.String("why", why))...)
		m.do(CloseConn{a.conn})
		m.forget(a)
		m.depart(a, f, why)
		// Ranks that are not COMPLETE may still need it.
		m.endEpoch(j, lossOf(a, f, why))
		m.afterLoss(j, a)
		return
	}
	m.log(slog.LevelWarn, "rank lost", append(a.attrs(), slog.String("why", why))...)
	if c := m.vacate(a, f, why); a.wired == j.epoch {
		m.endEpoch(j, c)
	}
	m.promote(j, a.rank)
	m.afterLoss(j, a)
}

// vacate removes the holder of a rank, which must then be replaced.
func (m *Machine) vacate(a *attempt, f events.Fault, why string) protocol.Cause {
	j := a.job
	m.do(CloseConn{a.conn})
	member := a.wired != protocol.Epoch{}
	if a.complete {
		assign(&j.finish.owedByLost, a.rank, a.owed)
	}
	m.forget(a)
	c := lossOf(a, f, why)
	m.depart(a, f, why)
	if j.noAttempts() {
		j.wiring.shards = nil // no attempt is left whose sums depend on these data
	}
	if member {
		j.markVacant(a.rank, m.Now, c)
		j.keepLease(a)
	}
	return c
}

// keepLease stores the end of the lease of an attempt that loses its rank. A lease lasts for half of lostAfter from
// the JOIN or the newest acknowledged heartbeat. The attempt counts from the time at which it sent that frame, so its
// lease ends before this time.
func (j *job) keepLease(a *attempt) {
	if until := a.ackedAt.Add(a.lostAfter / 2); until.After(j.losses.leases[a.rank]) {
		assign(&j.losses.leases, a.rank, until)
	}
}

// lossOf returns the cause of an epoch that the loss of a has ended.
func lossOf(a *attempt, f events.Fault, why string) protocol.Cause {
	return protocol.Cause{Kind: protocol.CauseLost, Fault: f, Rank: a.rank, Host: a.host, Why: why}
}

// markVacant records that a rank must be replaced.
func (j *job) markVacant(rank int, now time.Time, c protocol.Cause) {
	if _, ok := j.losses.vacant[rank]; !ok {
		assign(&j.losses.vacant, rank, vacancy{now, c})
	}
}

// shrink removes the lost ranks of a job that does not wait for replacements, when the others have
// answered EPOCH_END. A rank with a READY standby is replaced nevertheless. After the first
// COMPLETE no rank is removed: only the lost rank knew its files.
func (m *Machine) shrink(j *job) {
	if !j.shrinks() {
		return
	}
	for _, r := range sortedRanks(j.losses.vacant) {
		a := j.holders[r]
		if a != nil && a.ready {
			continue
		}
		if a != nil {
			j.clearHolder(a)
			m.standBy(a)
		}
		delete(j.losses.vacant, r)
		assign(&j.removed, r, true)
		j.losses.shrunk = protocol.Epoch{Term: j.epoch.Term, N: j.epoch.N + 1}
		m.log(slog.LevelWarn, "job continued without a rank", slog.String("job", j.id.String()), slog.Int("rank", r))
		m.notifyStandbys(j, r)
	}
	if len(j.holders) == 0 {
		m.fail(j, j.lastEnd.cause)
	}
}

// onLeave ends an attempt without an error. In a job with vw workers this is the normal end of
// native ranks: vw's protocol has no COMPLETE.
func (m *Machine) onLeave(a *attempt, f *protocol.LeaveFrame) {
	j := a.job
	m.send(a, &protocol.FinishedFrame{Epoch: j.epoch})
	if !j.vwStream {
		why := "it left"
		if f.Reason != "" {
			why += ": " + f.Reason
		}
		m.lose(a, events.FaultLeft, why)
		return
	}
	m.log(slog.LevelInfo, "rank left", append(a.attrs(), slog.String("reason", f.Reason))...)
	m.do(CloseConn{a.conn})
	m.forget(a)
	if j.native == 0 {
		m.log(slog.LevelInfo, "job ended", slog.String("job", j.id.String()))
		m.remove(j, jobFinished, protocol.Cause{})
	}
}

// onFail ends the job for all its attempts. The cause is the reason of the rank that gives up.
func (m *Machine) onFail(a *attempt, f *protocol.FailFrame) {
	m.log(slog.LevelWarn, "rank gave up", append(a.attrs(), slog.String("reason", f.Reason))...)
	if a.job.finish.receipt != 0 || !a.isHolder {
		m.lose(a, events.FaultLeft, f.Reason) // all files are delivered, or another attempt holds the rank
		return
	}
	m.fail(a.job, protocol.Cause{Kind: protocol.CauseGaveUp, Rank: a.rank, Host: a.host, Why: f.Reason, Detail: f.Detail})
}
