// SPDX-License-Identifier: Apache-2.0

package core

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// A rank whose connection to the server has ended works on and joins again: JOIN
// names its epoch then. The server may know the attempt still, or have lost it
// a moment ago, or be in its next life and know nothing. In that case the epochs
// that attempts report are all there is: for a while nothing is granted, wired,
// judged or ended, so that all can report; what is missing then is lost.

// restart is what a job keeps of it.
type restart struct {
	graceUntil time.Time // until then attempts of the server's earlier life may report
	graceEnded bool      // the grace has ended
	lastN      uint32    // epochs of an earlier job of the name
}

// past is a job that recovered from losses and has ended: an attempt of it
// may not have heard how.
type pastJob struct {
	id    protocol.Job
	epoch protocol.Epoch
	last  protocol.Frame // EPOCH_END or FINISHED
	at    time.Time
}

// pasts are the newest of them.
type pastJobs struct {
	by    map[protocol.Job]*pastJob
	queue []*pastJob
}

// maxAhead is by how much a term may be ahead of the server's own: one that is more
// has been made up.
const maxAhead = 1 << 20

// remembering keeps how a job has ended.
func (m *Machine) recordOutcome(j *job, last protocol.Frame) {
	if j.policy == protocol.Abort || j.epoch == (protocol.Epoch{}) {
		return
	}
	p := &pastJob{j.id, j.epoch, last, m.Now}
	if m.pastJobs.by == nil {
		m.pastJobs.by = map[protocol.Job]*pastJob{}
	}
	m.pastJobs.by[j.id] = p
	m.pastJobs.queue = append(m.pastJobs.queue, p)
	m.forgetPastJobs()
}

func (m *Machine) forgetPastJobs() {
	q := m.pastJobs.queue
	for len(q) > 0 && (len(q) > m.Remember || m.Now.Sub(q[0].at) > m.RememberFor) {
		if m.pastJobs.by[q[0].id] == q[0] {
			delete(m.pastJobs.by, q[0].id)
		}
		q = q[1:]
	}
	m.pastJobs.queue = q
}

// gracious tells that attempts may still report to a server that has started. It
// ends with a tick, which then judges who has not. Jobs that do not recover are
// waited for only if a rank has reported.
func (m *Machine) inGracePeriod(j *job) bool {
	reported := j.epoch != (protocol.Epoch{}) && j.epoch.Incarnation != m.Incarnation
	return !j.restart.graceEnded && !j.restart.graceUntil.IsZero() && (j.policy != protocol.Abort || reported)
}

// checkEpoch refuses an attempt whose epoch cannot be one of the job's, and tells one
// whose job has ended how.
func (m *Machine) checkEpoch(ev JoinReceived) (no *refusal, ended protocol.Frame) {
	f := ev.Join
	id := protocol.Job{UniqueID: f.UniqueID, RunKey: f.RunKey}
	j, p := m.jobs[id], m.pastJobs.by[id]
	switch {
	case f.Epoch.Term == math.MaxUint32, uint64(f.Epoch.Term) > uint64(m.Term)+maxAhead:
		return refuse(protocol.Malformed, "term %d is no term of a server", f.Epoch.Term), nil
	case f.Epoch.Incarnation != m.Incarnation:
		return nil, nil
	case p != nil && f.Epoch.Compare(p.epoch) <= 0:
		return nil, p.last
	case j == nil || j.epoch.Incarnation == m.Incarnation && f.Epoch.Compare(j.epoch) > 0:
		return refuse(protocol.AttemptFenced, "epoch %v of job %v is over, and the job with it", f.Epoch, id), nil
	}
	return nil, nil
}

// raiseTerm makes the terms of a server that has lost its journal, or never had
// one, go on after those that ranks know.
func (m *Machine) raiseTerm(e protocol.Epoch) {
	if e.Incarnation == m.Incarnation || e.Term < m.Term {
		return
	}
	m.Term = e.Term + 1
	m.log(slog.LevelInfo, "term follows that of an earlier server", slog.Int("term", int(m.Term)))
	m.do(Persist{Record: &protocol.TermRecord{Term: m.Term, At: m.wall}})
}

// same is the attempt whose JOIN this is again: its old connection may not have
// ended yet, as far as the server knows.
func (j *job) returning(f *protocol.JoinFrame) *attempt {
	switch {
	case f.Attempt == 0 || j.policy == protocol.Abort && f.Epoch == (protocol.Epoch{}):
		return nil
	case f.Spare():
		return j.findSpare(f.Attempt)
	}
	return j.find(int(f.Rank), f.Attempt)
}

// reconnect gives an attempt its new connection, and says again what may have been
// lost with the old one.
func (m *Machine) reconnect(a *attempt, ev JoinReceived) {
	j, f := a.job, ev.Join
	m.log(slog.LevelInfo, "rank is back on another connection", a.attrs()...)
	m.do(CloseConn{a.conn})
	delete(m.Conns, a.conn)
	a.conn, a.from, a.lastFrame, a.toldHolder = ev.Conn, ev.From, m.Now, 0
	a.advertise, a.port = f.AdvertiseHost, f.Port
	m.Conns[a.conn] = a
	m.send(a, &protocol.JoinedFrame{Attempt: a.number, LostAfter: a.lostAfter, Joined: uint32(j.accountedFor()), Seen: protocol.Clip(ev.From.Host, protocol.MaxHost), Members: j.membership})
	if f.Spare() && a.rank >= 0 {
		m.send(a, &protocol.AssignFrame{Rank: a.rank})
	}
	switch {
	case a.rank < 0:
	case !a.isHolder:
		m.tellStandbys(j, a.rank)
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

// rejoin seats an attempt that reports the epoch it is in.
func (m *Machine) rejoin(a *attempt, f *protocol.JoinFrame) *refusal {
	j := a.job
	m.raiseTerm(f.Epoch)
	if why, ok := j.evictions.attempts[a.number]; ok {
		return refuse(protocol.AttemptFenced, "this attempt of rank %d is out: %s", a.rank, why)
	}
	if j.mixed() {
		return refuse(protocol.RankHeld, "vw workers are in job %v", j.id)
	}
	newer := f.Epoch.Compare(j.epoch) > 0
	switch {
	case newer && (j.epoch == protocol.Epoch{} || m.inGracePeriod(j)):
		m.adoptEpoch(j, f.Epoch)
		j.wiring.token = f.Token
	case newer:
		return refuse(protocol.AttemptFenced, "epoch %v of job %v is not one that this server has begun, or heard of in time", f.Epoch, j.id)
	}
	holder := j.holders[a.rank]
	current := f.Epoch == j.epoch
	switch {
	case holder != nil && (!current || holder.wired == j.epoch || holder.vw):
		return refuse(protocol.AttemptFenced, "rank %d of job %v is held by another attempt, on %s", a.rank, j.id, holder.host)
	case j.removed[a.rank]:
		return refuse(protocol.AttemptFenced, "job %v goes on without rank %d", j.id, a.rank)
	case holder != nil && holder.wired != (protocol.Epoch{}):
		m.fenceOld(holder, a)
	case holder != nil: // it was never wired, and yields
		j.clearHolder(holder)
		if m.standBy(holder); !j.recovers() {
			m.send(holder, &protocol.RefusedFrame{Code: protocol.RankHeld, Reason: fmt.Sprintf("rank %d of job %v has been running since before this server", a.rank, j.id)})
			m.lose(holder, "another attempt has been running")
		}
	}
	a.wired, a.ready, a.rejoined, a.unknownHistory = f.Epoch, true, true, true
	if current {
		a.shard = j.wiring.shards[a.rank]
	}
	j.readyCount++
	a.readyOrder = j.readyCount
	m.admit(a)
	m.send(a, &protocol.JoinedFrame{Attempt: a.number, LostAfter: a.lostAfter, Joined: uint32(j.accountedFor()), Seen: protocol.Clip(a.from.Host, protocol.MaxHost), Members: j.membership})
	_, vacant := j.losses.vacant[a.rank]
	if !current || j.phase == recovering || j.phase == ending && vacant {
		m.sendEpochEnd(a, &protocol.EpochEndFrame{Epoch: a.wired, Cause: cmp.Or(j.lastEnd.cause, protocol.Cause{Kind: protocol.CauseLost, Rank: -1, Why: "the epoch is over"})})
	}
	m.tellStandbys(j, a.rank)
	return nil
}

// fenceOld ends the holder of a rank that has reported an older epoch than another attempt of the
// rank: the job went on without it in an earlier life of the server, which may have evicted it.
func (m *Machine) fenceOld(holder, newer *attempt) {
	why := fmt.Sprintf("rank %d of job %v is held by another attempt, on %s", newer.rank, newer.job.id, newer.host)
	m.log(slog.LevelWarn, "attempt is of an older epoch", append(holder.attrs(), slog.String("epoch", holder.wired.String()))...)
	m.send(holder, &protocol.FencedFrame{Epoch: holder.wired, Reason: why})
	m.do(CloseConn{holder.conn})
	m.forget(holder)
}

// adopt takes an epoch that an attempt reports for the job's newest.
func (m *Machine) adoptEpoch(j *job, e protocol.Epoch) {
	m.log(slog.LevelInfo, "job runs since before this server", slog.String("job", j.id.String()), slog.String("epoch", e.String()))
	if j.epoch == (protocol.Epoch{}) {
		j.restart.graceUntil, j.restart.graceEnded = m.Now.Add(m.LostAfter), false
	}
	if j.phase != ending {
		m.enter(j, wired)
	}
	j.epoch = e
	j.changes++
	for _, a := range j.members() {
		if (a.wired != protocol.Epoch{}) && !a.endSent && !a.complete && a.pullsFrom == nil {
			m.sendEpochEnd(a, &protocol.EpochEndFrame{Epoch: a.wired, Cause: protocol.Cause{Kind: protocol.CauseLost, Rank: -1, Why: "another epoch has begun"}})
		}
	}
}

// judge ends the grace of a job: who has not come back is lost.
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
	var lost []int // ranks of the newest epoch of which no attempt has reported any
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
	if whole {
		m.afterLoss(j, nil)
		return
	}
	c := protocol.Cause{Kind: protocol.CauseLost, Rank: -1, Why: "not all ranks were in the epoch when the server was started again"}
	for _, r := range lost {
		v := protocol.Cause{Kind: protocol.CauseLost, Rank: r, Why: fmt.Sprintf("it has not come back within %v of the server's return", m.LostAfter)}
		if r == lost[0] {
			c = v
			m.log(slog.LevelWarn, "ranks have not come back", slog.String("job", j.id.String()), slog.String("ranks", protocol.Ranks(lost)))
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
