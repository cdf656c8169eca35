// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"fmt"
	"slices"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// read takes what the server says, until the membership ends. A connection that ends
// is made anew where that makes sense.
func (m *Member) read(ctx context.Context, frames *protocol.FrameReader) {
	for {
		f, err := frames.Next()
		if err == nil {
			m.take(f)
			continue
		}
		if frames = m.reconnect(ctx, err); frames == nil {
			return
		}
	}
}

// take does what a frame of the server's asks for.
func (m *Member) take(f protocol.Frame) {
	switch f := f.(type) {
	case *protocol.OverFrame:
		m.onOver(f)
		return
	case *protocol.StartFrame:
		m.begin(wiringOf(f, m.cfg.Total, m.cfg.Rank))
		return
	case *protocol.WireFrame:
		m.begin(streamOf(f))
		return
	case *protocol.PullFrame:
		m.begin(pullOf(f, m.cfg.Rank))
		return
	case *protocol.AssignFrame:
		m.assigned(f)
		return
	}
	m.update(func() {
		m.heard = m.now()
		switch f := f.(type) {
		case *protocol.WaitingFrame:
			if m.waiting.Complete() && !f.Complete() {
				m.short = m.heard
			}
			m.waiting = *f
		case *protocol.RefusedFrame:
			m.end(&protocol.RefusedError{Server: m.cfg.Server, Code: f.Code, Reason: f.Reason, Model: f.Model})
		case *protocol.FencedFrame:
			m.end(&protocol.RefusedError{Server: m.cfg.Server, Code: protocol.AttemptFenced, Reason: f.Reason})
		case *protocol.RosterFrame:
			m.muster(f.Roster)
		case *protocol.StandByFrame:
			if f.Holder == 0 && f.Host == "" {
				m.cfg.Log.Info("standing by to the end: the job runs without this rank", "rank", m.cfg.Rank)
				break
			}
			m.cfg.Log.Info("standing by: another attempt holds the rank", "rank", m.cfg.Rank, "on", f.Host)
			m.endEpoch(&protocol.LostError{Job: m.cfg.Job, Rank: m.cfg.Rank, Host: m.cfg.Host, Why: "another attempt holds the rank now, on " + f.Host})
		case *protocol.DecidingFrame:
			m.decided[f.Peer] = true
		case *protocol.DeliverFrame:
			m.owe(f.Files)
			m.deliver = f
		case *protocol.ByeFrame:
			m.bye, m.model = true, f.Model
			m.endEpoch(m.finished())
		case *protocol.BeatenFrame:
			m.lease(f.Seq)
		}
	})
}

// muster takes over who takes part; the lock is held. The server may say it again.
func (m *Member) muster(r protocol.Roster) {
	switch {
	case !r.Decided || r == m.roster:
		return
	case m.roster.Decided:
		m.end(&protocol.RefusedError{Server: m.cfg.Server, Code: protocol.AttemptFenced, Reason: fmt.Sprintf(
			"the job is without %s now, and was to run without %s", protocol.OrNone(r.Missing(m.cfg.Total)), protocol.OrNone(m.roster.Missing(m.cfg.Total)))})
		return
	}
	m.roster = r
	m.short = m.now() // a rank that is missing later was lost after the members were known
	if missing := r.Missing(m.cfg.Total); len(missing) > 0 {
		m.cfg.Log.Warn("the job starts without ranks that have not come: what they would have read is missing, unless all share one input",
			"rank", m.cfg.Rank, "missing", protocol.Ranks(missing), "of", m.cfg.Total)
	}
}

// assigned gives this spare its rank. The server may say it again.
func (m *Member) assigned(f *protocol.AssignFrame) {
	m.update(func() {
		m.heard = m.now()
		switch {
		case m.cfg.Rank == f.Rank:
		case m.cfg.Rank >= 0 || f.Rank < 0 || f.Rank >= m.cfg.Total:
			m.end(&protocol.RefusedError{
				Server: m.cfg.Server, Code: protocol.Malformed,
				Reason: fmt.Sprintf("it gives rank %d of %d to an attempt of rank %d", f.Rank, m.cfg.Total, m.cfg.Rank),
			})
		default:
			m.cfg.Rank = f.Rank
			m.cfg.Log.Info("this spare takes the place of a lost rank", "rank", f.Rank)
		}
	})
}

// owe notes what is left for this rank to deliver when it is first told to; the lock is
// held. The rest of what it owes an earlier attempt has delivered, which a server that is
// started again does not know.
func (m *Member) owe(files []string) {
	if m.deliver != nil {
		return
	}
	for i, f := range m.standing {
		if c, ok := f.(*protocol.CompleteFrame); ok {
			left := *c
			left.Owes = files
			m.standing[i] = &left
		}
	}
}

// onOver ends an epoch on this rank, and says how far it is if another one is to
// follow.
func (m *Member) onOver(f *protocol.OverFrame) {
	cause := errorOf(f.Cause, m.cfg)
	if f.Final {
		m.update(func() {
			m.heard = m.now()
			if lost, ok := cause.(*protocol.LostError); ok {
				lost.Revived = m.revived
			}
			m.end(cause)
		})
		return
	}
	at := m.cfg.Place.Fence(f.Epoch)
	m.update(func() {
		m.heard = m.now()
		m.endEpoch(cause)
	})
	_ = m.declare(&protocol.AtFrame{ // a server that is away asks again
		Epoch: f.Epoch, Completed: at.Completed.Epoch, Step: at.Completed.Step, Work: at.Work, WaitsFor: at.WaitsFor,
	})
}

// begin starts an epoch.
func (m *Member) begin(w *Wiring) {
	var again protocol.Frame
	m.update(func() {
		m.heard = m.now()
		m.endEpoch(&protocol.LostError{Job: m.cfg.Job, Rank: -1, Why: "another epoch has begun"})
		m.past, m.pastWhy = m.wiring, m.why
		m.wiring, m.ended, m.why = w, make(chan struct{}), nil
		m.standing = slices.DeleteFunc(m.standing, func(f protocol.Frame) bool { return protocol.TypeOf(f) == protocol.TypeAt })
		clear(m.decided)
		if m.past != nil && w.Live != nil && len(w.Live) < len(m.past.Live) {
			again = m.completeAgain(w.Epoch)
		}
	})
	if again != nil {
		_ = m.write(again) // a server that is away hears it when it is back
	}
}

// completeAgain is what this rank has said of the end, for an epoch of fewer ranks: what
// was said before that does not count. nil: it has not. The lock is held.
func (m *Member) completeAgain(e protocol.Epoch) protocol.Frame {
	for i, f := range m.standing {
		if c, ok := f.(*protocol.CompleteFrame); ok {
			again := *c
			again.Epoch = e
			m.standing[i] = &again
			return &again
		}
	}
	return nil
}

// finished says that the job has ended; the lock is held.
func (m *Member) finished() error {
	return &protocol.FinishedError{Job: m.cfg.Job, Rank: m.cfg.Rank, Model: m.model}
}

// endEpoch ends the newest epoch, if it is not over; the lock is held.
func (m *Member) endEpoch(cause error) {
	if m.ended != nil && m.why == nil {
		m.why = cause
		close(m.ended)
	}
}

// end notes why the job is over; the lock is held.
func (m *Member) end(cause error) {
	if m.cause == nil {
		m.cause = cause
		m.endEpoch(cause)
		close(m.over)
	}
}

// errorOf returns the cause as the methods of every rank return it.
func errorOf(c protocol.Cause, cfg JoinConfig) error {
	if c.Kind == protocol.CauseRefused {
		return &protocol.RefusedError{Server: cfg.Server, Code: c.Code, Reason: c.Why}
	}
	return &protocol.LostError{Job: cfg.Job, Rank: c.Rank, Host: c.Host, Why: c.Why, GaveUp: c.Kind == protocol.CauseGaveUp, Detail: c.Detail}
}
