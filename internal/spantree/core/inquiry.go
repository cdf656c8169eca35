// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/cause"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/monitor/ranklog"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// An inquiry collects the last events of a job's ranks when the job stalls, when an epoch ends by a
// fault, and when the job fails. It ends when all ranks have answered, or after inquiryTimeout.
// Package cause then finds the cause. The ranks of a job that has failed get it in VERDICT; the
// machine has forgotten the job by then, and an inquiry holds their connections open.

const (
	// inquiryTimeout limits an inquiry. The ranks of a failed job wait for it.
	inquiryTimeout = 500 * time.Millisecond
	// stallInterval is the time between two inquiries about stalls of a job.
	stallInterval = time.Minute
	// maxInquiries limits the inquiries that run at once; further faults are logged without one.
	maxInquiries = 16
	// inquiryEvents limits the events that all ranks of a job are asked for.
	inquiryEvents = 16384
	// refusedClientLasts is the time for which a refused client without credentials may explain a missing rank.
	refusedClientLasts = 10 * time.Minute
	// leastEvents is the number of events that each rank is asked for at least.
	leastEvents = 8
)

// inquiry is an inquiry that runs.
type inquiry struct {
	number   uint64
	job      *job
	evidence cause.Evidence
	asked    map[ConnID]*cause.Rank // ranks that have not answered
	until    time.Time
	held     []ConnID // connections of a failed job, which get VERDICT and are then closed
}

// FaultFound reports the cause of a fault, with the evidence.
type FaultFound struct {
	Logs     []ranklog.RankLog // last lines of the ranks that send them
	Evidence cause.Evidence
	Verdict  cause.Verdict
	At       time.Time // of the calendar
}

func (FaultFound) action() {}

// inquire asks the ranks of a job for their events. It returns nil if no rank can answer. e is the
// evidence that the server has itself; the lost rank is not asked. verdict announces VERDICT.
func (m *Machine) inquire(j *job, e cause.Evidence, verdict time.Duration) *inquiry {
	able := func(a *attempt) bool {
		return a.capabilities&protocol.CanSendEvents != 0 && m.Conns[a.conn] == a && (e.How != cause.Lost || a.rank != e.Rank)
	}
	all := j.members()
	if len(m.inquiries) >= maxInquiries || !slices.ContainsFunc(all, able) {
		return nil
	}
	m.inquiriesSoFar++
	q := &inquiry{number: m.inquiriesSoFar, job: j, evidence: e, asked: map[ConnID]*cause.Rank{}, until: m.Now.Add(inquiryTimeout)}
	q.evidence.Job, q.evidence.Epoch, q.evidence.Total = j.id.String(), uint64(j.epoch.N), j.total
	if lost := j.newestLoss; lost != nil && j.holders[lost.rank] == nil && e.Rank == lost.rank {
		all = append(all, lost)
	}
	f := &protocol.CollectFrame{Number: q.number, Limit: uint32(min(protocol.MaxEvents, max(leastEvents, inquiryEvents/len(all)))), Verdict: verdict}
	for _, a := range all {
		r := a.evidence(m.Now)
		q.evidence.Ranks = append(q.evidence.Ranks, r)
		if able(a) {
			m.send(a, f)
			q.asked[a.conn] = r
		}
	}
	if j.phase == filling || e.How == cause.GaveUp {
		q.evidence.Missing = m.missingRanks(j)
	}
	m.inquiries = append(m.inquiries, q)
	return q
}

// evidence returns what is known of an attempt.
func (a *attempt) evidence(now time.Time) *cause.Rank {
	s := a.status(now)
	r := &cause.Rank{Rank: a.rank, Host: a.host, Address: a.from.Host, State: s.State, WaitsFor: -1, Waits: a.waitText, Events: a.events}
	if !a.vw {
		r.Silent, r.KernelAck = now.Sub(a.lastFrame), a.kernelAck
	}
	if a.waits.Epoch == a.job.epoch && !a.waits.At.IsZero() {
		r.WaitsFor, r.Collective = a.waits.For, a.waits.Collective
	}
	return r
}

// missingRanks returns the ranks without an attempt, with the reason if one is known.
func (m *Machine) missingRanks(j *job) map[int]string {
	missing := map[int]string{}
	for _, r := range j.missing() {
		if len(missing) == maxNamed {
			break
		}
		missing[r] = ""
		if d, ok := j.departed[r]; ok {
			missing[r] = "it left: " + d.why
		} else if j.refusals.count > 0 {
			missing[r] = "an attempt was refused: " + j.refusals.newest
		} else if s := m.refusedClient; !s.at.IsZero() && m.Now.Sub(s.at) < refusedClientLasts {
			missing[r] = fmt.Sprintf("a client at %s was refused %v ago: %s", s.host, m.Now.Sub(s.at).Round(time.Second), s.why)
		}
	}
	return missing
}

// evidenceOf returns the beginning of the evidence: the cause as the server has seen it.
func evidenceOf(c protocol.Cause) cause.Evidence {
	e := cause.Evidence{How: cause.Server, Fault: c.Fault, Rank: c.Rank, Peer: -1, Host: c.Host, Why: c.Why}
	switch c.Kind {
	case protocol.CauseLost:
		if e.How = cause.Lost; c.Fault == events.FaultLeft {
			e.How = cause.GaveUp
		}
	case protocol.CauseGaveUp:
		e.How = cause.GaveUp
	case protocol.CauseLink:
		e.How = cause.Edge
	}
	return e
}

// inquireEnd asks about the fault that ends an epoch, or the whole job.
func (m *Machine) inquireEnd(j *job, c protocol.Cause, verdict time.Duration) *inquiry {
	switch {
	case c.Kind == protocol.CauseHandover, c.Kind == protocol.CauseRefused && c.Code == protocol.Cancelled:
		return nil // no fault
	}
	e := evidenceOf(c)
	if q := j.links.newCharge; e.How == cause.Edge && q != nil {
		e.Peer = q.ends[0].rank
		if e.Peer == e.Rank {
			e.Peer = q.ends[1].rank
		}
	}
	return m.inquire(j, e, verdict)
}

// inquireStall asks about a stall that a rank has reported, while the job runs.
func (m *Machine) inquireStall(a *attempt, f *protocol.AskFrame) {
	j := a.job
	if f.Fault != protocol.EdgeStalls || j.phase != wired || !a.isHolder || m.Now.Before(j.nextStall) {
		return
	}
	j.nextStall = m.Now.Add(stallInterval)
	m.inquire(j, cause.Evidence{How: cause.Stalled, Rank: a.rank, Host: a.host, Peer: f.Peer, Why: f.Detail}, 0)
}

// hold keeps the connections of a failed job open for VERDICT. It is called before the job is
// removed, and reports whether the connection of an attempt is held.
func (q *inquiry) hold(conn ConnID) bool {
	if q == nil || q.asked[conn] == nil {
		return false
	}
	q.held = append(q.held, conn)
	return true
}

// onEvents stores the events of a rank: the answer to COLLECT, or those that precede its end.
func (m *Machine) onEvents(conn ConnID, f *protocol.EventsFrame) {
	if a := m.Conns[conn]; a != nil && f.Number == 0 {
		a.events = f.Events
	}
	for _, q := range m.inquiries {
		if r := q.asked[conn]; r != nil && q.number == f.Number {
			r.Events, r.Answered = f.Events, true
			delete(q.asked, conn)
		}
	}
	m.endInquiries()
}

// unanswered ends the wait for the answers of a connection that has ended.
func (m *Machine) unanswered(conn ConnID) {
	for _, q := range m.inquiries {
		delete(q.asked, conn)
	}
	m.endInquiries()
}

// endInquiries judges the inquiries that need not wait any longer.
func (m *Machine) endInquiries() {
	m.inquiries = slices.DeleteFunc(m.inquiries, func(q *inquiry) bool {
		if len(q.asked) > 0 && m.Now.Before(q.until) {
			return false
		}
		m.endInquiry(q)
		return true
	})
}

// endInquiry judges an inquiry.
func (m *Machine) endInquiry(q *inquiry) {
	v := cause.Judge(q.evidence)
	m.log(slog.LevelWarn, "cause found", slog.String("job", q.evidence.Job), slog.Int("rank", v.Rank), slog.String("kind", string(v.Kind)), slog.String("cause", v.Line))
	m.do(FaultFound{Evidence: q.evidence, Verdict: v, At: m.wall.UTC(), Logs: m.logs.Tails(q.job.id, faultLines, faultLogBytes)})
	q.job.found = &protocol.FoundCause{Rank: v.Rank, Kind: string(v.Kind), Line: v.Line}
	if q.job.phase == failed {
		m.endings.Explain(q.job.id, q.job.generation, q.job.found)
	}
	f := &protocol.VerdictFrame{Number: q.number, Rank: v.Rank, Cause: protocol.Clip(v.Line, protocol.MaxText)}
	for _, conn := range q.held {
		m.do(SendFrame{conn, f})
		m.do(CloseConn{conn})
	}
}

// eventsMemory returns the memory that events are counted with, in bytes.
func eventsMemory(all []events.Event) (n int64) {
	for _, e := range all {
		n += 128 + int64(len(e.Verb)+len(e.Name))
	}
	return n
}

// memoryUse returns the memory that an inquiry is counted with, in bytes.
func (q *inquiry) memoryUse() (n int64) {
	for _, r := range q.evidence.Ranks {
		n += protocol.MemberBytes + eventsMemory(r.Events)
	}
	return n
}
