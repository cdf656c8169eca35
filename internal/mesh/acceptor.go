// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/transport"
)

// accept takes connections until the mesh is closed. Each handshake has its own goroutine, so
// a silent peer delays no other.
func (m *Mesh) accept() {
	log, rank := m.cfg.Log, m.cfg.Rank
	a := &transport.Acceptor{Listener: m.listener, Shed: m.pending.shed, Log: log.With("rank", rank)}
	defer a.Close()
	for {
		c, err := a.Accept(m.ctx)
		if err != nil {
			return // the listener is closed
		}
		if !m.cfg.admits(c) {
			continue
		}
		known := m.pending.add(c)
		m.work.Go(func() {
			defer known()
			err := m.acceptHandshake(c, known)
			if err == nil {
				return
			}
			c.Close()
			if m.ctx.Err() == nil && !errors.Is(err, ErrNotYet) {
				log.Warn("dropped a connection", "rank", rank, "from", c.RemoteAddr(), "error", err)
			}
		})
	}
}

// admits reports whether the peer's address is in one of the allowed networks. If not, it logs
// and closes the connection.
func (c Config) admits(conn net.Conn) bool {
	if len(c.Allow) == 0 {
		return true
	}
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err == nil && address.In(host, c.Allow) {
		return true
	}
	c.Log.Warn("dropped a connection: its address is in no allowed network", "rank", c.Rank, "from", conn.RemoteAddr())
	conn.Close()
	return false
}

// pending is the connections whose peers have not identified themselves yet. If there are too
// many, the oldest is closed: a rank identifies itself at once, so the newest connections are
// the most likely to be from ranks.
type pending struct {
	limit int // maximum number of connections

	mu    sync.Mutex
	conns []net.Conn // oldest first
}

// maxPending is large enough that a flood of connections does not displace a rank between two
// of its packets.
const maxPending = 512

// pendingLimit returns the limit for a process that may have so many open descriptors. Most of
// them are needed for connections whose peers are known.
func pendingLimit(descriptors int) int { return min(maxPending, max(4, descriptors/8)) }

// shed closes the oldest connection, and reports whether there was one.
func (p *pending) shed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.drop()
}

// drop is shed with the lock held.
func (p *pending) drop() bool {
	if len(p.conns) == 0 {
		return false
	}
	p.conns[0].Close() // its handshake fails, which is logged
	p.conns = p.conns[1:]
	return true
}

// add registers a connection until known is called. known reports whether the connection was
// still registered, that is, was not shed.
func (p *pending) add(c net.Conn) (known func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.conns) >= p.limit {
		p.drop()
	}
	p.conns = append(p.conns, c)
	return func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		n := len(p.conns)
		p.conns = slices.DeleteFunc(p.conns, func(o net.Conn) bool { return o == c })
		return len(p.conns) < n
	}
}

// acceptHandshake completes the acceptor's side of a handshake, and hands the connection to
// its epoch or to the owner. known removes the connection from the pending ones.
func (m *Mesh) acceptHandshake(bare net.Conn, known func() bool) error {
	bare.SetDeadline(time.Now().Add(handshakeTimeout))
	stop := context.AfterFunc(m.ctx, func() { bare.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	proven := func() bool { return known() && stop() }
	c, err := m.cfg.Credentials.Server(m.ctx, bare)
	if err != nil {
		return err
	}
	var b [helloSize]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		return auth.Explain(err)
	}
	h, err := decodeHello(b[:])
	if err != nil {
		return err
	}
	if h.pull {
		defer c.Close()
		return m.acceptPull(c, h, b[:], known)
	}
	w, e := m.owner.Current()
	if w != nil && h.after(w.Epoch) {
		return ErrNotYet
	}
	if e == nil {
		return fmt.Errorf("rank %d has no reason to connect to this rank", h.from)
	}
	bare.SetDeadline(time.Now().Add(proofTimeout))
	if m.ctx.Err() != nil {
		return ErrOver // stop's function may have set its deadline before this one
	}
	return e.accept(c, h, b[:], proven)
}
