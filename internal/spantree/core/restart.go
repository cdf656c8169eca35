// SPDX-License-Identifier: Apache-2.0

package core

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/history"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// A rank whose connection to the server has ended continues its work, and joins again. JOIN then
// names its epoch. The server may still know the attempt, may have lost it a moment ago, or may
// have been restarted and know nothing. After a restart the epochs that attempts report are all
// that is known. During a grace period the server therefore wires nothing, considers no rank lost,
// and ends no job. Ranks that have not reconnected by then are lost.

// restart is the state of a job after a restart of the server.
type restart struct {
	graceUntil time.Time // end of the grace period; zero: there is none
	graceEnded bool      // it has ended
	lastN      uint32    // number of epochs of an earlier job of this name
}

// maxAhead limits the difference between a rank's term and the server's own. A larger difference is
// no result of restarts.
const maxAhead = 1 << 20

// BeginGrace begins the grace period of a server that continues the journal of an earlier one. It applies to every
// job that recovers and is opened within it. A job whose ranks report an epoch has a period of its own, from the first
// such report.
func (m *Machine) BeginGrace() { m.graceUntil = m.Now.Add(m.Grace) }

// recordOutcome stores the end of a job for attempts that reconnect later.
func (m *Machine) recordOutcome(j *job, last protocol.Frame) {
	if j.policy == protocol.Abort || j.epoch == (protocol.Epoch{}) {
		return
	}
	m.outcomes.Add(&history.Outcome{Job: j.id, Epoch: j.epoch, Last: last, At: m.Now})
	m.outcomes.Expire(m.Now, m.Remember, m.RememberFor)
}

// inGracePeriod reports whether attempts may still reconnect after a restart of the server. The
// first tick after the period ends it. A job that does not recover has one only if a rank has
// reported an epoch.
func (m *Machine) inGracePeriod(j *job) bool {
	reported := j.epoch != (protocol.Epoch{}) && j.epoch.Incarnation != m.Incarnation
	return !j.restart.graceEnded && !j.restart.graceUntil.IsZero() && (j.policy != protocol.Abort || reported)
}

// checkEpoch refuses an attempt whose epoch cannot be one of the job's. For an attempt whose job
// has ended it returns the job's last frame, EPOCH_END or FINISHED.
func (m *Machine) checkEpoch(ev JoinReceived) (no *refusal, ended protocol.Frame) {
	f := ev.Join
	id := f.Job()
	j, p := m.jobs[id], m.outcomes.Find(id)
	switch {
	case f.Epoch.Term == math.MaxUint32, uint64(f.Epoch.Term) > uint64(m.Term)+maxAhead:
		return refuse(protocol.Malformed, "term %d is not the term of a server", f.Epoch.Term), nil
	case f.Epoch.Incarnation != m.Incarnation:
		return nil, nil // an epoch of an earlier server, which rejoin adopts or refuses
	case p != nil && f.Epoch.Compare(p.Epoch) <= 0:
		return nil, p.Last
	case j == nil || j.epoch.Incarnation == m.Incarnation && f.Epoch.Compare(j.epoch) > 0:
		return refuse(protocol.AttemptFenced, "epoch %v of job %v has ended, and so has the job", f.Epoch, id), nil
	}
	return nil, nil
}

// raiseTerm sets the term above one that a rank reports. A server without a journal, or with a new
// one, thus continues the terms of earlier servers.
func (m *Machine) raiseTerm(e protocol.Epoch) {
	if e.Incarnation == m.Incarnation || e.Term < m.Term {
		return
	}
	m.Term = e.Term + 1
	m.log(slog.LevelInfo, "term raised above that of an earlier server", slog.Int("term", int(m.Term)))
	m.do(Persist{Record: &protocol.TermRecord{Term: m.Term, At: m.wall}})
}

// returning returns the attempt that this JOIN repeats, if the server has it; else nil. The old
// connection of the attempt may still be open.
func (j *job) returning(f *protocol.JoinFrame) *attempt {
	switch {
	case f.Attempt == 0 || j.policy == protocol.Abort && f.Epoch == (protocol.Epoch{}):
		return nil
	case f.Spare():
		return j.findSpare(f.Attempt)
	}
	return j.find(int(f.Rank), f.Attempt)
}

// reconnect gives an attempt its new connection, and repeats the frames that may have been lost
// with the old one.
func (m *Machine) reconnect(a *attempt, ev JoinReceived) {
	j, f := a.job, ev.Join
	m.log(slog.LevelInfo, "rank reconnected", a.attrs()...)
	m.do(CloseConn{a.conn})
	delete(m.Conns, a.conn)
	a.conn, a.from, a.lastFrame, a.ackedAt, a.sentHolder = ev.Conn, ev.From, m.Now, m.Now, 0
	a.advertise, a.port = f.AdvertiseHost, f.Port
	m.Conns[a.conn] = a
	m.send(a, a.joinedFrame())
	if f.Spare() && a.rank >= 0 {
		m.send(a, &protocol.AssignFrame{Rank: a.rank})
	}
	// Only the newest frame that determines the state of the attempt is repeated: it implies the
	// earlier ones.
	switch {
	case a.rank < 0:
	case !a.isHolder:
		m.notifyStandbys(j, a.rank)
	case a.deliverSent:
		m.send(a, &protocol.DeliverFrame{Epoch: j.epoch, Files: slices.Clone(a.owed)})
	case a.pullsFrom != nil:
		m.sendPull(a, a.pullsFrom)
	case a.endSent && !a.complete:
		m.send(a, &protocol.EpochEndFrame{Epoch: a.wired, Cause: j.lastEnd.cause})
	case a.wired == j.epoch && f.Epoch != j.epoch && j.wiring.start != nil && !a.complete:
		m.send(a, j.wiring.start)
	}
}

// checkEarlier refuses an attempt that reports an epoch or members which the job, by its other ranks, cannot have had
// before a restart of the server.
func (j *job) checkEarlier(f *protocol.JoinFrame) *refusal {
	if no := j.checkMembers(f); no != nil {
		return no
	}
	if f.Epoch != (protocol.Epoch{}) && j.mixed() {
		return refuse(protocol.RankHeld, "vw workers are in job %v", j.id)
	}
	return nil
}

// rejoin makes an attempt that reports its epoch the holder of its rank. It refuses no attempt of a job that this
// attempt has configured: no other attempt is in that job.
func (m *Machine) rejoin(a *attempt, f *protocol.JoinFrame) *refusal {
	j := a.job
	m.raiseTerm(f.Epoch)
	if why, ok := j.evictions.attempts[a.number]; ok {
		return refuse(protocol.AttemptFenced, "this attempt of rank %d was evicted: %s", a.rank, why)
	}
	newer := f.Epoch.Compare(j.epoch) > 0
	switch {
	case newer && (j.epoch == protocol.Epoch{} || m.inGracePeriod(j)):
		m.adoptEpoch(j, f.Epoch)
		j.wiring.token = f.Token
	case newer:
		return refuse(protocol.AttemptFenced, "epoch %v of job %v is unknown to this server, or was reported too late", f.Epoch, j.id)
	}
	holder := j.holders[a.rank]
	current := f.Epoch == j.epoch
	switch {
	case holder != nil && (!current || holder.wired == j.epoch || holder.vw):
		return refuse(protocol.AttemptFenced, "rank %d of job %v is held by another attempt, on %s", a.rank, j.id, holder.host)
	case j.removed[a.rank] && current && j.grows(): // it was taken back before the server's restart
		delete(j.removed, a.rank)
	case j.removed[a.rank]:
		return refuse(protocol.AttemptFenced, "job %v continues without rank %d", j.id, a.rank)
	case holder != nil && holder.wired != (protocol.Epoch{}):
		m.fenceOld(holder, a)
	case holder != nil: // it was never wired
		j.clearHolder(holder)
		if m.standBy(holder); !j.recovers() {
			m.send(holder, &protocol.RefusedFrame{Code: protocol.RankHeld, Reason: fmt.Sprintf("rank %d of job %v has a holder from before the server's restart", a.rank, j.id)})
			m.lose(holder, events.FaultDropped, "another attempt was the holder before the restart")
		}
	}
	a.wired, a.ready, a.rejoined, a.unknownHistory = f.Epoch, true, true, true
	if current {
		a.shard = j.wiring.shards[a.rank]
	}
	j.readyCount++
	a.readyOrder = j.readyCount
	m.admit(a)
	m.send(a, a.joinedFrame())
	_, vacant := j.losses.vacant[a.rank]
	if !current || j.phase == recovering || j.phase == ending && vacant {
		m.sendEpochEnd(a, &protocol.EpochEndFrame{Epoch: a.wired, Cause: cmp.Or(j.lastEnd.cause, protocol.Cause{Kind: protocol.CauseLost, Rank: -1, Why: "the epoch is over"})})
	}
	m.notifyStandbys(j, a.rank)
	return nil
}

// fenceOld fences the holder of a rank whose epoch is older than that of another attempt of the
// rank. Before a restart of the server the job has continued without it.
func (m *Machine) fenceOld(holder, newer *attempt) {
	why := fmt.Sprintf("rank %d of job %v is held by another attempt, on %s", newer.rank, newer.job.id, newer.host)
	m.log(slog.LevelWarn, "attempt of an older epoch fenced", append(holder.attrs(), slog.String("epoch", holder.wired.String()))...)
	m.send(holder, &protocol.FencedFrame{Epoch: holder.wired, Reason: why})
	m.do(CloseConn{holder.conn})
	holder.job.keepLease(holder)
	m.forget(holder)
}

// adoptEpoch sets the newest epoch of a job to one that an attempt has reported.
func (m *Machine) adoptEpoch(j *job, e protocol.Epoch) {
	m.log(slog.LevelInfo, "job adopted that ran before the restart", slog.String("job", j.id.String()), slog.String("epoch", e.String()))
	if j.epoch == (protocol.Epoch{}) {
		j.restart.graceUntil, j.restart.graceEnded = m.Now.Add(m.Grace), false
	}
	if j.phase != ending {
		m.enter(j, wired)
	}
	j.epoch = e
	j.changes++
	for _, a := range j.members() {
		if (a.wired != protocol.Epoch{}) && !a.endSent && !a.complete && a.pullsFrom == nil {
			m.sendEpochEnd(a, &protocol.EpochEndFrame{Epoch: a.wired, Cause: protocol.Cause{Kind: protocol.CauseLost, Rank: -1, Why: "another epoch has started"}})
		}
	}
}

// assumeLeases gives each rank the lease of an attempt that only the earlier server knew: the rank has not reconnected, or
// its attempt has replaced that one. It is the longest one by the limits of the ranks that have reconnected.
func (m *Machine) assumeLeases(j *job) {
	longest := m.LostAfter
	for _, a := range j.members() {
		longest = max(longest, a.lostAfter)
	}
	until := j.created.Add(longest / 2)
	if !j.recovers() || !until.After(m.Now) {
		return // no rank is replaced, or all leases have ended
	}
	for r := range j.total {
		if !j.removed[r] && until.After(j.losses.leases[r]) {
			assign(&j.losses.leases, r, until)
		}
	}
}

// endGracePeriod ends the grace period of a job: ranks that have not reconnected are lost.
func (m *Machine) endGracePeriod(j *job) {
	if j.restart.graceEnded || m.Now.Before(j.restart.graceUntil) {
		return
	}
	j.restart.graceEnded = true
	if j.restart.graceUntil.IsZero() {
		return
	}
	if j.phase == filling {
		m.assignAll(j)
		m.decideMembers(j)
		m.advance(j)
		return
	}
	var lost []int // ranks of which no attempt has reported an epoch
	whole := true
	for r := range j.total {
		switch a := j.holders[r]; {
		case j.removed[r]:
		case a == nil || a.wired == protocol.Epoch{}:
			lost = append(lost, r)
			whole = false
		case a.wired != j.epoch:
			whole = false
		}
	}
	m.assumeLeases(j)
	if whole { // all ranks are in the newest epoch, which continues
		m.afterLoss(j, nil)
		return
	}
	c := protocol.Cause{Kind: protocol.CauseLost, Rank: -1, Why: "not all ranks were in the epoch when the server was restarted"}
	for _, r := range lost {
		v := protocol.Cause{Kind: protocol.CauseLost, Fault: events.FaultSilent, Rank: r, Why: fmt.Sprintf("it has not reconnected within %v of the server's restart", m.Grace)}
		if d, left := j.departed[r]; left { // it has reconnected, and was lost after that
			v.Fault, v.Host = d.fault, d.host
			v.Why = fmt.Sprintf("%s, within %v of the server's restart", d.why, m.Grace)
		}
		if r == lost[0] {
			c = v
			m.log(slog.LevelWarn, "ranks not reconnected in time", slog.String("job", j.id.String()), slog.String("ranks", protocol.Ranks(lost)))
		}
		if j.recovers() {
			j.markVacant(r, m.Now, v)
			m.promote(j, r)
		}
	}
	if !j.recovers() {
		m.fail(j, c)
		return
	}
	m.endEpoch(j, c)
	m.afterLoss(j, nil)
}
