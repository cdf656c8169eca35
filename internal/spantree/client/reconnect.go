// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// A rank whose server has gone works on. It tries to reach it again once a second: a
// server that has been restarted learns from JOIN what it has forgotten, and hears
// again what still holds. With OnLoss Abort a rank does not try: it needs the server only for
// the end of the job. There it fails at once if the server has gone, and does not wait for
// ServerTimeout, as a rank that tries does.

// reconnects tells that a connection that ends is made anew.
func (c *JoinConfig) reconnects() bool { return c.OnLoss != protocol.Abort }

// patience is the silence after which a connection to the server is given up.
func (c *JoinConfig) silenceLimit() time.Duration {
	if c.reconnects() {
		return min(c.LostAfter, c.ServerTimeout)
	}
	return c.ServerTimeout
}

// Lose ends the connection to the server; the reader does what follows.
func (m *Member) DropConnection(err error) {
	if !m.cfg.reconnects() {
		m.serverLost(err)
	}
	_ = m.Disconnect()
}

// part notes that the server has gone for good. The rank works on: it needs the
// server again when something is lost, or at the end.
func (m *Member) serverLost(err error) {
	m.change(func() {
		if m.serverErr != nil {
			return
		}
		m.serverErr = err
		if !m.closing && !m.gotFinished && m.cause == nil {
			m.cfg.Log.Warn("the server has gone, working on without it", "server", m.cfg.Server, "rank", m.cfg.Rank, "error", err)
		}
	})
}

// reconnect makes a connection that has ended anew, and returns its frames, or nil
// when there is nothing more to hear.
func (m *Member) reconnect(ctx context.Context, ended error) *protocol.FrameReader {
	m.mu.Lock()
	over := m.closing || m.gotFinished || m.cause != nil || m.wiring != nil && m.wiring.Stream
	m.mu.Unlock()
	if over || !m.cfg.reconnects() {
		m.serverLost(ended)
		return nil
	}
	_ = m.Disconnect()
	m.change(func() { m.conn = nil })
	m.cfg.Log.Warn("the server has gone, working on and trying to reach it again", "server", m.cfg.Server, "rank", m.cfg.Rank,
		"for", m.cfg.ServerTimeout, "error", ended)
	var frames *protocol.FrameReader
	err := m.retryWithin(ctx, m.cfg.ServerTimeout, func(ctx context.Context) error {
		return newAttempts(m.cfg).run(ctx, func(ctx context.Context) (err error) {
			frames, err = m.rejoin(ctx)
			return err
		})
	})
	refused, no := errors.AsType[*protocol.RefusedError](err)
	switch {
	case err == nil:
		m.cfg.Log.Info("the server is back", "server", m.cfg.Server, "rank", m.cfg.Rank)
	case no:
		m.change(func() { m.refused(refused) })
	default:
		m.serverLost(err)
	}
	return frames
}

// within calls do with a context that ends after a time by the member's clock: what a pause
// of this process has cut short is done again.
func (m *Member) retryWithin(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	read := func() time.Time {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.now()
	}
	for end := read().Add(limit); ; {
		slice, cancel := context.WithTimeout(ctx, end.Sub(read()))
		err := do(slice)
		cut := slice.Err() != nil && ctx.Err() == nil
		cancel()
		if err == nil || !cut || !read().Before(end) {
			return err
		}
	}
}

// rejoin makes one attempt.
func (m *Member) rejoin(ctx context.Context) (*protocol.FrameReader, error) {
	cfg := m.cfg
	at := cfg.Steps.Position()
	join := cfg.joinFrame()
	join.Completed, join.Step = at.Completed.Epoch, at.Completed.Step
	m.mu.Lock()
	join.Members = m.members
	if m.wiring != nil {
		join.Epoch, join.Token = m.wiring.Epoch, m.wiring.Token
	}
	for _, f := range m.replayLog {
		switch f.(type) {
		case *protocol.ReadyFrame:
			join.State = max(join.State, protocol.StateReady)
		case *protocol.CompleteFrame:
			join.State = max(join.State, protocol.StateComplete)
		}
	}
	m.mu.Unlock()
	g := cfg.endpoint()
	conn, frames, err := g.connect(ctx, func(c net.Conn, r *protocol.FrameReader) error {
		joined, err := register(c, r, &cfg, join)
		if err == nil {
			m.change(func() { m.setMembers(joined.Members) })
		}
		return err
	})
	if errors.Is(err, errVWServer) {
		return nil, g.notVW("vw's own server answers instead of the one that ran this job")
	}
	if err != nil {
		return nil, err
	}
	return frames, m.replay(conn, frames.Server)
}

// refused ends the membership of a rank that came back; the lock is held. That the run
// has finished is a FINISHED, of which this rank has not heard before the server went.
func (m *Member) refused(no *protocol.RefusedError) {
	if no.Code != protocol.JobFinished {
		m.end(no)
		return
	}
	m.gotFinished, m.model = true, no.Model
	m.endEpoch(m.finishedError())
}

// resume takes a new connection over, and says again what holds.
func (m *Member) replay(conn net.Conn, server uint64) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	m.mu.Lock()
	standing, closing := m.replayLog, m.closing
	m.heard = m.now()
	m.conn = conn
	if m.cfg.Elastic > 0 {
		m.missingSince = m.heard // the server may have begun anew to wait for who is missing
	}
	m.serverRestarted, m.server = m.serverRestarted || server != m.server, server
	m.mu.Unlock()
	if closing {
		return conn.Close()
	}
	for _, f := range standing {
		if err := m.writeTo(conn, f); err != nil {
			return err
		}
	}
	return nil
}
