// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/spantree/client"
)

const (
	// handshakeTimeout limits a handshake of the dialler. It also limits the wait of the acceptor for the first message.
	handshakeTimeout = 10 * time.Second
	// proofTimeout limits the acceptor's part from the first message on. It is longer than the dialler's whole handshake,
	// also where one of them has no processor for a while: the dialler takes the connection for open as soon as it has
	// sent its last message, and would take the acceptor for lost if that closed it for being late.
	proofTimeout = 3 * handshakeTimeout
)

var (
	// ErrOver is the error of whatever waits for a connection when the epoch ends.
	ErrOver = errors.New("the epoch has ended")
	// ErrClosed is the error of Connect when Close is called meanwhile.
	ErrClosed = errors.New("the connections of the epoch were closed")
	// ErrNotYet means that the other rank is in a later epoch than this one, and that it
	// tries again.
	ErrNotYet = errors.New("this rank is still in an older epoch")
)

// dialHandshake completes the dialler's side of a handshake with a rank, over a connection
// that was just opened. Both sides prove that they belong to the epoch. The connection of the
// result is bare, or TLS over bare.
func (e *Epoch) dialHandshake(ctx context.Context, bare net.Conn, rank int) (Conn, error) {
	bare.SetDeadline(time.Now().Add(handshakeTimeout))
	stop := context.AfterFunc(ctx, func() { bare.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	c, err := e.cfg.Credentials.Client(ctx, bare, "")
	if err != nil {
		return Conn{}, err
	}
	b, x, err := e.key.Initiate(c, e.hello(rank), helloSize)
	if err != nil {
		return Conn{}, auth.Explain(err)
	}
	h, err := decodeHello(b)
	if err == nil {
		err = h.check(e.wiring, e.cfg.Rank, e.cfg.Total)
	}
	switch {
	case err != nil:
		return Conn{}, err
	case int(h.from) != rank:
		return Conn{}, fmt.Errorf("rank %d answers at the address of rank %d", h.from, rank)
	case !stop():
		return Conn{}, context.Cause(ctx)
	}
	return Conn{Conn: c, Host: e.wiring.Address(rank), Exchange: x, Role: auth.Client}, c.SetDeadline(time.Time{})
}

func (e *Epoch) hello(to int) []byte {
	return newHello(e.wiring.Epoch, e.cfg.Rank, to, e.cfg.Total, false)
}

// accept completes the acceptor's side of a handshake with the rank that has sent h, whose
// bytes are said, and installs the connection. proven ends the limits of a pending handshake;
// it reports false if they were exceeded.
func (e *Epoch) accept(c net.Conn, h hello, said []byte, proven func() bool) error {
	if err := h.check(e.wiring, e.cfg.Rank, e.cfg.Total); err != nil {
		return err
	}
	from := int(h.from)
	if !e.expects(from) {
		return fmt.Errorf("rank %d has no reason to connect to this rank", h.from)
	}
	x, err := e.key.Respond(c, said, e.hello(from))
	if err != nil {
		return err
	}
	if !proven() {
		return ErrOver
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return err
	}
	return e.install(from, Conn{Conn: c, Host: e.wiring.Address(from), Exchange: x, Role: auth.Server})
}

// acceptPull completes the acceptor's side of a handshake with a rank that lacks something,
// and lets the owner send it. The epoch is the newest one, which this rank may not have entered yet.
func (m *Mesh) acceptPull(c net.Conn, h hello, said []byte, known func() bool) error {
	w := m.owner.Newest()
	if w == nil || h.after(w.Epoch) {
		return ErrNotYet
	}
	if err := h.check(w, m.cfg.Rank, m.cfg.Total); err != nil {
		return err
	}
	x, err := m.cfg.key(w).Respond(c, said, newHello(w.Epoch, m.cfg.Rank, int(h.from), m.cfg.Total, true))
	if err != nil {
		return err
	}
	if !known() {
		return net.ErrClosed
	}
	c, stop := newInterruptible(m.ctx, c)
	defer stop()
	if m.cfg.Tagged() {
		c = x.Seal(c, auth.Server)
	}
	return m.owner.Serve(c, int(h.from), w)
}

// Pull connects to the rank from at an address, for what this rank lacks at the start of the
// epoch of w, and calls take with the connection, which is sealed if frames have tags. The end
// of ctx interrupts reads and writes. The connection is closed when Pull returns.
func (m *Mesh) Pull(ctx context.Context, w *client.Wiring, from int, address string, take func(c net.Conn) error) error {
	bare, err := dialOnce(ctx, m.cfg.Network, address)
	if err != nil {
		return err
	}
	defer bare.Close()
	bare.SetDeadline(time.Now().Add(handshakeTimeout))
	conn, stop := newInterruptible(ctx, bare)
	defer stop()
	c, err := m.cfg.Credentials.Client(ctx, conn, "")
	if err != nil {
		return err
	}
	b, x, err := m.cfg.key(w).Initiate(c, newHello(w.Epoch, m.cfg.Rank, from, m.cfg.Total, true), helloSize)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return auth.Explain(err)
	}
	if h, err := decodeHello(b); err != nil {
		return err
	} else if int(h.from) != from {
		return fmt.Errorf("rank %d answers at the address of rank %d", h.from, from)
	}
	if m.cfg.Tagged() {
		c = x.Seal(c, auth.Client)
	}
	return take(c)
}
