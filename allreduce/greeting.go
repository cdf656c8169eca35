// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const (
	helloPatience = 10 * time.Second // for a connection to say who it is
	maxStrangers  = 512              // connections that have not said so yet: enough that a flood of them does not push out a rank between two packets
)

// greet says hello to a rank, hears its answer, and has both prove that they belong to
// the epoch. What follows goes over the connection that is returned.
func (w *wirer) greet(ctx context.Context, bare net.Conn, rank int) (net.Conn, tags, error) {
	stop := context.AfterFunc(ctx, func() { bare.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	bare.SetDeadline(time.Now().Add(helloPatience))
	c, err := w.creds.Client(ctx, bare, "")
	if err != nil {
		return nil, tags{}, err
	}
	b, x, err := w.key.Greet(c, w.hello(rank), helloSize)
	if err != nil {
		return nil, tags{}, auth.Explain(err)
	}
	h, err := decodeHello(b)
	if err == nil {
		err = h.check(w.wiring, w.rank, w.total)
	}
	switch {
	case err != nil:
		return nil, tags{}, err
	case int(h.from) != rank:
		return nil, tags{}, fmt.Errorf("rank %d answers at the address of rank %d", h.from, rank)
	case !stop():
		return nil, tags{}, context.Cause(ctx)
	}
	return c, w.tags(x, auth.Client), c.SetDeadline(time.Time{})
}

func (w *wirer) hello(to int) []byte {
	return newHello(w.wiring.Epoch, w.rank, to, w.total, false)
}

// newHello says who this is, whom it looks for, and something that nobody has said
// before.
func newHello(e protocol.Epoch, from, to, total int, pull bool) []byte {
	h := hello{epoch: e, from: uint32(from), to: uint32(to), total: uint32(total), pull: pull}
	nonce := auth.Nonce()
	copy(h.nonce[:], nonce[:])
	return h.appendTo(nil)
}

// key is the key of the connections between the ranks of an epoch.
func (c Config) key(w *client.Wiring) auth.Key {
	return c.Credentials.Epoch(auth.Scope{
		UniqueID: c.Job.UniqueID, RunKey: c.Job.RunKey,
		Term: w.Epoch.Term, N: w.Epoch.N, Incarnation: w.Epoch.Incarnation, Token: w.Token,
	})
}

// check says whether the hello belongs to the epoch of w and is for this rank.
func (h hello) check(w *client.Wiring, rank, total int) error {
	switch {
	case h.epoch != w.Epoch:
		return fmt.Errorf("it is of another epoch: got epoch %v, want %v", h.epoch, w.Epoch)
	case int(h.to) != rank || int(h.total) != total:
		return fmt.Errorf("it looks for rank %d of %d, this is rank %d of %d", h.to, h.total, rank, total)
	}
	return nil
}

// after says that the hello is of a later epoch than e, as far as numbers tell.
func (h hello) after(e protocol.Epoch) bool {
	return h.epoch.Term > e.Term || h.epoch.Term == e.Term && h.epoch.N > e.N
}

// welcome answers who has said hello, in these bytes, and, if that is its part, makes an edge of the
// connection. proven ends the watch over it, once it is known whose it is.
func (w *wirer) welcome(c net.Conn, h hello, said []byte, proven func() bool) error {
	if err := h.check(w.wiring, w.rank, w.total); err != nil {
		return err
	}
	from := int(h.from)
	if !w.expects(from) {
		return fmt.Errorf("rank %d has no reason to connect to this rank", h.from)
	}
	x, err := w.key.Answer(c, said, w.hello(from))
	if err != nil {
		return err
	}
	if !proven() {
		return errOver
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return err
	}
	return w.install(from, link{conn: c, rank: from, host: w.wiring.Peers[from], tags: w.tags(x, auth.Server)})
}
