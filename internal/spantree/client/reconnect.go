// SPDX-License-Identifier: Apache-2.0

package client

import (
	"cmp"
	"context"
	"errors"
	"net"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// A rank that loses its server continues its work, and tries to reach the server once a second. A
// restarted server learns from JOIN, and from the replayed frames, what it has forgotten. With
// OnLoss Abort a rank does not try. It needs the server only at the end of the job, where it then
// fails at once instead of after ServerTimeout.

// reconnects reports whether a lost connection is made again.
func (c *JoinConfig) reconnects() bool { return c.OnLoss != protocol.Abort }

// silenceLimit returns the silence of the server after which the connection is closed. Where a rank reconnects that is
// the limit in JOINED, which the server has raised if heartbeats are rare. The caller holds the lock.
func (m *Member) silenceLimit() time.Duration {
	if m.cfg.reconnects() {
		return min(m.lostAfter, m.cfg.ServerTimeout)
	}
	return m.cfg.ServerTimeout
}

// DropConnection ends the connection to the server, as if the network had. The reader does the
// rest.
func (m *Member) DropConnection(err error) {
	if !m.cfg.reconnects() {
		m.serverLost(err)
	}
	_ = m.Disconnect()
}

// serverLost records that the server is lost for good. The rank continues to work. It needs the
// server again when a rank is lost, or at the end.
func (m *Member) serverLost(err error) {
	m.change(func() {
		if m.serverErr != nil {
			return
		}
		m.serverErr, m.serverLostAt = err, time.Now()
		if !m.closing && !m.gotFinished && m.cause == nil {
			m.cfg.Log.Warn("server lost, continuing without it", "server", m.cfg.Server, "rank", m.cfg.Rank, "error", err)
		}
	})
}

// reconnect replaces a connection that has ended, and returns its frames. It returns nil if the
// membership has ended.
func (m *Member) reconnect(ctx context.Context, ended error) *protocol.FrameReader {
	m.mu.Lock()
	over := m.closing || m.gotFinished || m.cause != nil || m.wiring != nil && m.wiring.Stream
	m.mu.Unlock()
	if over || !m.cfg.reconnects() {
		m.serverLost(ended)
		return nil
	}
	_ = m.Disconnect()
	m.change(func() { m.conn = nil }) // until replay, writes fail and the heartbeats pause
	m.cfg.Log.Warn("server lost, continuing and reconnecting", "server", m.cfg.Server, "rank", m.cfg.Rank,
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

// retryWithin calls do with a context that ends after limit by the member's clock. If a pause of
// this process has shortened the time, it calls do again.
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

// rejoin makes one attempt to reconnect.
func (m *Member) rejoin(ctx context.Context) (*protocol.FrameReader, error) {
	cfg := m.cfg
	at := cfg.Steps.Position()
	join := cfg.joinFrame()
	join.Completed, join.Step = at.Completed.Epoch, at.Completed.Step
	m.mu.Lock()
	join.Members = m.members
	if m.wiring != nil {
		join.Epoch, join.Token = m.wiring.Epoch, m.wiring.Token // ranks that join later need the token
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
			m.change(func() {
				m.setMembers(joined.Members)
				m.lostAfter = cmp.Or(joined.LostAfter, cfg.LostAfter)
			})
		}
		return err
	})
	if errors.Is(err, errVWServer) {
		return nil, g.notVW("vw's own server answers instead of the one that ran this job")
	}
	if err != nil {
		return nil, err
	}
	return frames, m.replay(conn, frames)
}

// refused ends the membership of a rank that has reconnected. Code JobFinished stands for a
// FINISHED that was sent while there was no connection. The caller holds the lock.
func (m *Member) refused(no *protocol.RefusedError) {
	if no.Code != protocol.JobFinished {
		m.end(no)
		return
	}
	m.gotFinished, m.model = true, no.Model
	m.endEpoch(m.finishedError())
}

// replay installs a new connection, and sends the frames of the replay log.
func (m *Member) replay(conn net.Conn, frames *protocol.FrameReader) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	m.mu.Lock()
	standing, closing := m.replayLog, m.closing
	m.lastFrame = m.now()
	m.conn = conn
	if m.cfg.Elastic > 0 {
		m.missingSince = m.lastFrame // a restarted server waits for missing ranks from the beginning
	}
	m.serverRestarted = m.serverRestarted || frames.Server != m.server
	m.server, m.maxFrame = frames.Server, frames.MaxFrame
	m.mu.Unlock()
	if closing {
		return conn.Close()
	}
	for _, f := range standing {
		if err := m.writeTo(conn, f); err != nil {
			_ = conn.Close() // the next attempt has another one
			return err
		}
	}
	return nil
}
