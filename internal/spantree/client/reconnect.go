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
func (c *JoinConfig) patience() time.Duration {
	if c.reconnects() {
		return min(c.LostAfter, c.ServerTimeout)
	}
	return c.ServerTimeout
}

// Lose ends the connection to the server; the reader does what follows.
func (m *Member) Lose(err error) {
	if !m.cfg.reconnects() {
		m.part(err)
	}
	_ = m.HangUp()
}

// part notes that the server has gone for good. The rank works on: it needs the
// server again when something is lost, or at the end.
func (m *Member) part(err error) {
	m.update(func() {
		if m.gone != nil {
			return
		}
		m.gone = err
		if !m.closing && !m.bye && m.cause == nil {
			m.cfg.Log.Warn("the server has gone, working on without it", "server", m.cfg.Server, "rank", m.cfg.Rank, "error", err)
		}
	})
}

// reconnect makes a connection that has ended anew, and returns its frames, or nil
// when there is nothing more to hear.
func (m *Member) reconnect(ctx context.Context, ended error) *protocol.FrameReader {
	m.mu.Lock()
	over := m.closing || m.bye || m.cause != nil || m.wiring != nil && m.wiring.Stream
	m.mu.Unlock()
	if over || !m.cfg.reconnects() {
		m.part(ended)
		return nil
	}
	_ = m.HangUp()
	m.update(func() { m.conn = nil })
	m.cfg.Log.Warn("the server has gone, working on and trying to reach it again", "server", m.cfg.Server, "rank", m.cfg.Rank,
		"for", m.cfg.ServerTimeout, "error", ended)
	var frames *protocol.FrameReader
	err := m.within(ctx, m.cfg.ServerTimeout, func(ctx context.Context) error {
		return newAttempts(m.cfg).until(ctx, func(ctx context.Context) (err error) {
			frames, err = m.rejoin(ctx)
			return err
		})
	})
	refused, no := errors.AsType[*protocol.RefusedError](err)
	switch {
	case err == nil:
		m.cfg.Log.Info("the server is back", "server", m.cfg.Server, "rank", m.cfg.Rank)
	case no:
		m.update(func() { m.refused(refused) })
	default:
		m.part(err)
	}
	return frames
}

// within calls do with a context that ends after a time by the member's clock: what a pause
// of this process has cut short is done again.
func (m *Member) within(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
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
	at := cfg.Place.At()
	join := cfg.join()
	join.Completed, join.Step = at.Completed.Epoch, at.Completed.Step
	m.mu.Lock()
	join.Roster = m.roster
	if m.wiring != nil {
		join.Epoch, join.Token = m.wiring.Epoch, m.wiring.Token
	}
	for _, f := range m.standing {
		switch f.(type) {
		case *protocol.ReadyFrame:
			join.State = max(join.State, protocol.StateReady)
		case *protocol.CompleteFrame:
			join.State = max(join.State, protocol.StateComplete)
		}
	}
	m.mu.Unlock()
	g := cfg.gateway()
	conn, frames, err := g.converse(ctx, func(c net.Conn, r *protocol.FrameReader) error {
		joined, err := register(c, r, &cfg, join)
		if err == nil {
			m.update(func() { m.muster(joined.Roster) })
		}
		return err
	})
	if errors.Is(err, errVWServer) {
		return nil, g.notVW("vw's own server answers instead of the one that ran this job")
	}
	if err != nil {
		return nil, err
	}
	return frames, m.resume(conn, frames.Server)
}

// refused ends the membership of a rank that came back; the lock is held. That the run
// has finished is a BYE, of which this rank has not heard before the server went.
func (m *Member) refused(no *protocol.RefusedError) {
	if no.Code != protocol.JobFinished {
		m.end(no)
		return
	}
	m.bye, m.model = true, no.Model
	m.endEpoch(m.finished())
}

// resume takes a new connection over, and says again what holds.
func (m *Member) resume(conn net.Conn, server uint64) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	m.mu.Lock()
	standing, closing := m.standing, m.closing
	m.heard = m.now()
	m.conn = conn
	if m.cfg.Elastic > 0 {
		m.short = m.heard // the server may have begun anew to wait for who is missing
	}
	m.revived, m.server = m.revived || server != m.server, server
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
