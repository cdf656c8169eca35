// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"crypto/subtle"
	"fmt"
	"io"
	"net"
	"time"
)

const (
	helloPatience = 10 * time.Second // for a connection to say who it is
	maxStrangers  = 64               // connections that have not said so yet
)

// greet says hello to a rank and hears its answer.
func (w *wirer) greet(ctx context.Context, c net.Conn, rank int) error {
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	c.SetDeadline(time.Now().Add(helloPatience))
	if _, err := c.Write(w.hello(rank)); err != nil {
		return err
	}
	h, err := w.heard(c)
	if err != nil {
		return err
	}
	if int(h.from) != rank {
		return fmt.Errorf("rank %d answers at the address of rank %d", h.from, rank)
	}
	if !stop() {
		return context.Cause(ctx)
	}
	return c.SetDeadline(time.Time{})
}

func (w *wirer) hello(to int) []byte {
	return hello{
		token: w.wiring.Token, epoch: w.wiring.Epoch,
		from: uint32(w.rank), to: uint32(to), total: uint32(w.total),
	}.appendTo(nil)
}

// heard reads a hello and checks that it belongs to this epoch and rank.
func (w *wirer) heard(c net.Conn) (hello, error) {
	var b [helloSize]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		return hello{}, err
	}
	h, err := decodeHello(b[:])
	switch {
	case err != nil:
		return h, err
	case subtle.ConstantTimeCompare(h.token[:], w.wiring.Token[:]) != 1 || h.epoch != w.wiring.Epoch:
		return h, fmt.Errorf("the token of another epoch: got epoch %v, want %v", h.epoch, w.wiring.Epoch)
	case int(h.to) != w.rank || int(h.total) != w.total:
		return h, fmt.Errorf("it looks for rank %d of %d, this is rank %d of %d", h.to, h.total, w.rank, w.total)
	}
	return h, nil
}

// accept takes connections until the epoch's end, each on its own, so that a silent
// one holds up nobody.
func (w *wirer) accept() {
	strangers := make(chan struct{}, maxStrangers)
	for {
		c, err := w.listener.Accept()
		if err != nil {
			w.acceptFailed(err)
			return
		}
		select {
		case strangers <- struct{}{}:
		default:
			w.log.Warn("dropped a connection: too many have not said who they are", "rank", w.rank, "from", c.RemoteAddr(), "limit", maxStrangers)
			c.Close()
			continue
		}
		w.work.Go(func() {
			defer func() { <-strangers }()
			if err := w.welcome(c); err != nil {
				c.Close()
				if w.ctx.Err() == nil {
					w.log.Warn("dropped a connection", "rank", w.rank, "from", c.RemoteAddr(), "error", err)
				}
			}
		})
	}
}

// welcome hears who connects and, if that is its part, answers.
func (w *wirer) welcome(c net.Conn) error {
	stop := context.AfterFunc(w.ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	c.SetDeadline(time.Now().Add(helloPatience))
	h, err := w.heard(c)
	if err != nil {
		return err
	}
	from := int(h.from)
	if !w.expects(from) {
		return fmt.Errorf("rank %d has no reason to connect to this rank", h.from)
	}
	if _, err := c.Write(w.hello(from)); err != nil {
		return err
	}
	if !stop() {
		return context.Cause(w.ctx)
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return err
	}
	return w.install(from, link{conn: c, rank: from, host: w.wiring.Peers[from]})
}
