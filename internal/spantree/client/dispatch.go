// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"fmt"
	"slices"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// read dispatches the server's frames until the membership ends. If the connection ends, it
// reconnects where the job recovers.
func (m *Member) read(ctx context.Context, frames *protocol.FrameReader) {
	for {
		f, err := frames.Next()
		if err == nil {
			m.dispatch(f)
			continue
		}
		m.endPending("")
		if frames = m.reconnect(ctx, err); frames == nil {
			return
		}
	}
}

// dispatch processes a frame of the server.
func (m *Member) dispatch(f protocol.Frame) {
	switch f := f.(type) {
	case *protocol.EpochEndFrame:
		m.onEpochEnd(f)
		return
	case *protocol.EpochStartFrame:
		m.startEpoch(wiringOf(f, m.cfg.Total, m.cfg.Rank))
		return
	case *protocol.WireFrame:
		m.startEpoch(streamOf(f))
		return
	case *protocol.PullFrame:
		m.startEpoch(pullOf(f, m.cfg.Rank))
		return
	case *protocol.AssignFrame:
		m.assigned(f)
		return
	case *protocol.CollectFrame:
		m.onCollect(f)
		return
	case *protocol.ClockAnswerFrame:
		m.onClockAnswer(f)
		return
	case *protocol.VerdictFrame:
		m.endPending(f.Cause)
		return
	}
	m.change(func() {
		m.lastFrame = m.now()
		switch f := f.(type) {
		case *protocol.WaitingFrame:
			if m.waiting.Complete() && !f.Complete() {
				m.missingSince = m.lastFrame
			}
			m.waiting = *f
		case *protocol.RefusedFrame:
			m.end(&protocol.RefusedError{Server: m.cfg.Server, Code: f.Code, Reason: f.Reason, Model: f.Model})
		case *protocol.FencedFrame:
			m.end(&protocol.RefusedError{Server: m.cfg.Server, Code: protocol.AttemptFenced, Reason: f.Reason})
		case *protocol.MembersFrame:
			m.setMembers(f.Members)
		case *protocol.StandByFrame:
			if f.Holder == 0 && f.Host == "" { // the job has removed or excluded the rank
				m.cfg.Log.Info("standby until the end: the job runs without this rank", "rank", m.cfg.Rank)
				break
			}
			m.cfg.Log.Info("standing by: another attempt holds the rank", "rank", m.cfg.Rank, "on", f.Host)
			m.endEpoch(&protocol.LostError{Job: m.cfg.Job, Rank: m.cfg.Rank, Host: m.cfg.Host, Why: "another attempt holds the rank now, on " + f.Host})
		case *protocol.AskAckFrame:
			m.askAcked[f.Peer] = true
		case *protocol.DeliverFrame:
			m.setOwed(f.Files)
			m.deliver = f
		case *protocol.FinishedFrame:
			m.gotFinished, m.model = true, f.Model
			m.endEpoch(m.finishedError())
		case *protocol.HeartbeatAckFrame:
			m.lease(f.Seq)
		}
	})
}

// setMembers stores the members of an elastic job. The server may send them repeatedly. The caller
// holds the lock.
func (m *Member) setMembers(r protocol.Members) {
	switch {
	case !r.Decided || r == m.members:
		return
	case m.members.Decided:
		m.end(&protocol.RefusedError{Server: m.cfg.Server, Code: protocol.AttemptFenced, Reason: fmt.Sprintf(
			"the job is without %s now, and was to run without %s", protocol.RanksOrNone(r.Excluded(m.cfg.Total)), protocol.RanksOrNone(m.members.Excluded(m.cfg.Total)))})
		return
	}
	m.members = r
	m.missingSince = m.now() // from now on, a missing rank is a lost one
	if missing := r.Excluded(m.cfg.Total); len(missing) > 0 {
		m.cfg.Log.Warn("job starting without ranks: their data are missing, unless all ranks share one input",
			"rank", m.cfg.Rank, "missing", protocol.Ranks(missing), "of", m.cfg.Total)
	}
}

// assigned stores the rank of this spare. The server may send it repeatedly.
func (m *Member) assigned(f *protocol.AssignFrame) {
	m.change(func() {
		m.lastFrame = m.now()
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

// setOwed removes files from the replayed COMPLETE when the first DELIVER arrives. An earlier
// attempt has delivered all other files, which a restarted server does not know. The caller holds
// the lock.
func (m *Member) setOwed(files []string) {
	if m.deliver != nil {
		return
	}
	for i, f := range m.replayLog {
		if c, ok := f.(*protocol.CompleteFrame); ok {
			left := *c
			left.Owed = files
			m.replayLog[i] = &left
		}
	}
}

// onEpochEnd ends an epoch on this rank. Unless the end is final, it sends the rank's position.
func (m *Member) onEpochEnd(f *protocol.EpochEndFrame) {
	cause := errorOf(f.Cause, m.cfg)
	if f.Final {
		m.change(func() {
			m.lastFrame = m.now()
			if lost, ok := cause.(*protocol.LostError); ok {
				lost.ServerRestarted = m.serverRestarted
			}
			if m.cause == nil && m.verdictWithin > 0 {
				m.pendingEnd = cause
				m.awaitVerdict()
				return
			}
			m.end(cause)
		})
		return
	}
	m.cfg.Log.Debug("epoch ended by the server", "rank", m.cfg.Rank, "of", f.Cause.Rank, "fault", f.Cause.Fault.String(), "why", f.Cause.Why)
	// Seal comes first: after POSITION this rank must not complete another step in this epoch.
	at := m.cfg.Steps.Seal(f.Epoch)
	m.change(func() {
		m.lastFrame = m.now()
		m.endEpoch(cause)
	})
	_ = m.sendLogged(&protocol.PositionFrame{ // a restarted server asks again
		Epoch: f.Epoch, Completed: at.Completed.Epoch, Step: at.Completed.Step, Work: at.Work, WaitsFor: at.WaitsFor,
	})
}

// startEpoch replaces the newest wiring.
func (m *Member) startEpoch(w *Wiring) {
	var again protocol.Frame
	m.change(func() {
		m.lastFrame = m.now()
		m.endEpoch(&protocol.LostError{Job: m.cfg.Job, Rank: -1, Why: "another epoch has started"})
		m.previous, m.previousCause = m.wiring, m.epochCause
		m.wiring, m.ended, m.epochCause = w, make(chan struct{}), nil
		// POSITION answers the end of an earlier epoch: a restarted server does not need it any more.
		m.replayLog = slices.DeleteFunc(m.replayLog, func(f protocol.Frame) bool { return protocol.TypeOf(f) == protocol.TypePosition })
		clear(m.askAcked)
		if m.previous != nil && w.Members != nil && len(w.Members) < len(m.previous.Members) {
			again = m.completeAgain(w.Epoch)
		}
	})
	if again != nil {
		_ = m.write(again) // if the connection has ended, the replay log repeats it
	}
}

// completeAgain returns COMPLETE for an epoch of fewer ranks, if this rank has sent it before; else
// nil. COMPLETE of an epoch of more ranks does not count. The caller holds the lock.
func (m *Member) completeAgain(e protocol.Epoch) protocol.Frame {
	for i, f := range m.replayLog {
		if c, ok := f.(*protocol.CompleteFrame); ok {
			again := *c
			again.Epoch = e
			m.replayLog[i] = &again
			return &again
		}
	}
	return nil
}

// finishedError returns the error of an attempt that was not needed. The caller holds the lock.
func (m *Member) finishedError() error {
	return &protocol.FinishedError{Job: m.cfg.Job, Rank: m.cfg.Rank, Model: m.model}
}

// endEpoch ends the newest epoch, unless it has ended. The caller holds the lock.
func (m *Member) endEpoch(cause error) {
	if m.ended != nil && m.epochCause == nil {
		m.epochCause = cause
		close(m.ended)
	}
}

// end records the cause by which the job has ended. Only the first call counts. The caller holds
// the lock.
func (m *Member) end(cause error) {
	if m.cause == nil {
		m.cause = cause
		close(m.over) // before the epoch's end, after which callers look whether the job is over
		m.endEpoch(cause)
	}
}

// errorOf converts a cause to the error that the methods of every rank return.
func errorOf(c protocol.Cause, cfg JoinConfig) error {
	if c.Kind == protocol.CauseRefused {
		return &protocol.RefusedError{Server: cfg.Server, Code: c.Code, Reason: c.Why}
	}
	return &protocol.LostError{Job: cfg.Job, Rank: c.Rank, Host: c.Host, Why: c.Why, GaveUp: c.Kind == protocol.CauseGaveUp, Detail: c.Detail}
}
