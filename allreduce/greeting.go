// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"crypto/subtle"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/gvw-project/gvw/allreduce/spantree"
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
	if err != nil {
		return h, err
	}
	return h, h.check(w.wiring, w.rank, w.total)
}

// check says whether the hello belongs to the epoch of w and is for this rank.
func (h hello) check(w *spantree.Wiring, rank, total int) error {
	switch {
	case subtle.ConstantTimeCompare(h.token[:], w.Token[:]) != 1 || h.epoch != w.Epoch:
		return fmt.Errorf("the token of another epoch: got epoch %v, want %v", h.epoch, w.Epoch)
	case int(h.to) != rank || int(h.total) != total:
		return fmt.Errorf("it looks for rank %d of %d, this is rank %d of %d", h.to, h.total, rank, total)
	}
	return nil
}

// after says that the hello is of a later epoch than e, as far as numbers tell.
func (h hello) after(e spantree.Epoch) bool {
	return h.epoch.Term > e.Term || h.epoch.Term == e.Term && h.epoch.N > e.N
}

// welcome answers who has said hello and, if that is its part, makes an edge of the
// connection. unwatch ends the watch over its deadline.
func (w *wirer) welcome(c net.Conn, h hello, unwatch func() bool) error {
	if err := h.check(w.wiring, w.rank, w.total); err != nil {
		return err
	}
	from := int(h.from)
	if !w.expects(from) {
		return fmt.Errorf("rank %d has no reason to connect to this rank", h.from)
	}
	if _, err := c.Write(w.hello(from)); err != nil {
		return err
	}
	if !unwatch() {
		return errOver
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return err
	}
	return w.install(from, link{conn: c, rank: from, host: w.wiring.Peers[from]})
}
