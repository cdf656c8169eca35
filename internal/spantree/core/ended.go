// SPDX-License-Identifier: Apache-2.0

package core

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/history"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// outcome is the end of a job.
type outcome string

const (
	jobFinished  outcome = "finished"
	jobFailed    outcome = "failed"
	jobCancelled outcome = "cancelled"
	jobClosed    outcome = "closed"      // all ranks left before the start
	jobHanded    outcome = "handed over" // to its vw workers, whose end the server does not learn
)

// fail ends a job for all its attempts, with one cause.
func (m *Machine) fail(j *job, why protocol.Cause) {
	why.Host, why.Why = protocol.Clip(why.Host, protocol.MaxHost), protocol.Clip(why.Why, protocol.MaxText)
	m.enter(j, failed)
	m.log(slog.LevelError, "job failed", slog.String("job", j.id.String()), slog.Int("rank", why.Rank), slog.String("host", why.Host), slog.String("why", why.Why))
	over := &protocol.EpochEndFrame{Epoch: j.epoch, Final: true, Cause: why}
	m.recordOutcome(j, over)
	if j.epoch == (protocol.Epoch{}) {
		awaits := func(rank int) bool { return j.holders[rank] == nil }
		m.failures.Add(history.NewFailure(j.id, j.generation, j.total, awaits, over, m.Now))
	}
	q := m.inquireEnd(j, why, inquiryTimeout)
	for _, a := range j.attempts() {
		if !a.vw {
			m.send(a, over)
		}
	}
	how := jobFailed
	if why.Kind == protocol.CauseRefused && why.Code == protocol.Cancelled {
		how = jobCancelled
	}
	m.removeExcept(j, how, why, q)
}

// remove ends a job. Its outcome remains, and the record of a finished run.
func (m *Machine) remove(j *job, how outcome, why protocol.Cause) { m.removeExcept(j, how, why, nil) }

// removeExcept is remove, and leaves connections open that an inquiry holds; nil: none.
func (m *Machine) removeExcept(j *job, how outcome, why protocol.Cause, q *inquiry) {
	m.ended(j, how, why)
	for _, a := range j.attempts() {
		if !q.hold(a.conn) {
			m.do(CloseConn{a.conn})
		}
		m.forget(a)
	}
	if m.jobs[j.id] == j {
		delete(m.jobs, j.id)
	}
	if j.phase != failed {
		m.refused.Forget(j.id)
	}
	m.order = slices.DeleteFunc(m.order, func(k *job) bool { return k == j })
}

// ended records the outcome of a job.
func (m *Machine) ended(j *job, how outcome, why protocol.Cause) {
	e := protocol.EndedJob{
		UniqueID: j.id.UniqueID, RunKey: j.id.RunKey, Generation: j.generation, Outcome: string(how), Cause: why.Why, Rank: why.Rank,
		// Seconds follow the machine's clock, without pauses. Ended is a calendar time; Round
		// removes its monotonic reading, so that equal times compare as equal.
		Host: why.Host, Total: j.total, Seconds: m.Now.Sub(j.created).Seconds(), Ended: m.wall.UTC().Round(0),
	}
	if how == jobFinished {
		e.Rank = -1
		if j.finish.model != [32]byte{} {
			e.Model = hex.EncodeToString(j.finish.model[:])
		}
	}
	m.endings.Add(e)
}

// Recall adds a finished run from the journal.
func (m *Machine) Recall(r *protocol.FinishedRecord) {
	m.finished.Add(r)
	m.endings.Add(protocol.EndedJob{
		UniqueID: r.Job.UniqueID, RunKey: r.Job.RunKey, Generation: r.Generation, Outcome: string(jobFinished), Rank: -1,
		Total: int(r.Total), Ended: r.At.UTC().Round(0), Model: hex.EncodeToString(r.Model[:]),
	})
}

// abandoned returns the cause by which a running job without ranks has ended.
func (j *job) abandoned() protocol.Cause {
	why := j.lastEnd.cause
	if why == (protocol.Cause{}) {
		why.Rank = -1
	}
	why.Why = strings.TrimPrefix(why.Why+"; all ranks were lost, and another job has replaced it", "; ")
	return why
}

// lastDeparture returns the cause by which a filling job without ranks has ended: the departure of
// its last rank.
func (j *job) lastDeparture() protocol.Cause {
	why := protocol.Cause{Rank: -1, Why: "all ranks left before the start"}
	var last time.Time
	for _, r := range sortedRanks(j.departed) {
		if f := j.departed[r]; f.at.After(last) {
			why, last = protocol.Cause{Rank: r, Host: f.host, Why: "all ranks left before the start, this one last: " + f.why}, f.at
		}
	}
	return why
}

// onCancel ends a job on request of a user.
func (m *Machine) onCancel(ev CancelRequested) {
	f := ev.Cancel
	j, no := m.named(protocol.Job{UniqueID: f.UniqueID, RunKey: f.RunKey})
	if no == nil && !j.ownedBy(f.Claim) {
		no = refuse(protocol.Unauthorised, "job %v has an owner: cancel it with the job token of its ranks", j.id)
		m.logRefusal("cancellation refused: wrong owner", slog.String("job", j.id.String()), slog.String("from", ev.From.Host))
	}
	if no == nil && j.finish.receipt != 0 {
		no = refuse(protocol.NoSuchJob, "job %v has just finished: its files are delivered", j.id)
	}
	if no != nil {
		m.do(SendFrame{ev.Conn, &protocol.RefusedFrame{Code: no.Code, Reason: protocol.Clip(no.Reason, protocol.MaxText)}})
		m.do(CloseConn{ev.Conn})
		return
	}
	m.log(slog.LevelWarn, "job cancelled", slog.String("job", j.id.String()), slog.String("from", ev.From.Host), slog.String("reason", f.Reason))
	over := j.epoch
	m.fail(j, protocol.Cause{Kind: protocol.CauseRefused, Code: protocol.Cancelled, Rank: -1, Why: "cancelled: " + cmp.Or(f.Reason, "no reason was given")})
	m.do(SendFrame{ev.Conn, &protocol.FinishedFrame{Epoch: over}})
	m.do(CloseConn{ev.Conn})
}

// ownedBy reports whether the claim is that of the job's owner, or the job has none. It takes the
// same time for each wrong claim.
func (j *job) ownedBy(claim [32]byte) bool {
	digest := sha256.Sum256(claim[:])
	return !j.hasOwner() || subtle.ConstantTimeCompare(digest[:], j.owner[:]) == 1
}

// hasOwner reports whether the job has an owner. A job that fills has none when only vw workers are left in it.
func (j *job) hasOwner() bool { return j.configured() && j.owner != [32]byte{} }

// named returns the job with this name. Without a run key, the only job with the id.
func (m *Machine) named(id protocol.Job) (*job, *refusal) {
	if j := m.jobs[id]; j != nil {
		return j, nil
	}
	var matches []*job
	for _, j := range m.order {
		if id.RunKey == "" && j.id.UniqueID == id.UniqueID {
			matches = append(matches, j)
		}
	}
	switch len(matches) {
	case 0:
		return nil, refuse(protocol.NoSuchJob, "there is no job %v that fills or runs", id)
	case 1:
		return matches[0], nil
	}
	return nil, refuse(protocol.NoSuchJob, "%d jobs have the id %d (%v, %v, …): give the run key, too", len(matches), id.UniqueID, matches[0].id, matches[1].id)
}
