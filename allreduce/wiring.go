// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/spantree"
	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/allreduce/transport"
)

const (
	helloPatience = 10 * time.Second       // for a connection to say who it is
	maxStrangers  = 64                     // connections that have not said so yet
	redial        = 200 * time.Millisecond // between attempts to reach the parent
)

// wirer opens the edges of one epoch: it connects to the parent and accepts the
// children. Nothing it started is left when connect returns.
type wirer struct {
	net      transport.Network
	listener net.Listener
	rank     int
	total    int
	wiring   *spantree.Wiring
	over     <-chan struct{} // the epoch has ended
	log      *slog.Logger

	place schedule.Place
	mu    sync.Mutex
	conns [schedule.Edges]net.Conn
	hosts [schedule.Edges]string
	fault error
	ready chan struct{} // closed: all are there, or fault
	done  bool
}

func newWirer(n transport.Network, l net.Listener, rank, total int, w *spantree.Wiring, over <-chan struct{}, log *slog.Logger) *wirer {
	return &wirer{
		net: n, listener: l, rank: rank, total: total, wiring: w, over: over, log: log,
		place: placeOf(rank, total, w), ready: make(chan struct{}),
	}
}

// placeOf is where this rank stands. In a job with vw workers the neighbours'
// ranks are not known; children stand in the order in which they connect.
func placeOf(rank, total int, w *spantree.Wiring) schedule.Place {
	if !w.Stream {
		return schedule.PlaceIn(topo.Binary(total), rank)
	}
	p := schedule.Place{Rank: rank, Size: total, Lo: rank, Hi: rank + 1}
	for e := range p.Peer {
		p.Peer[e] = schedule.None
	}
	const somebody = 0
	if w.Parent != "" {
		p.Peer[schedule.Up] = somebody
	}
	if w.Kids > 0 {
		p.Peer[schedule.Left] = somebody
	}
	if w.Kids > 1 {
		p.Peer[schedule.Right] = somebody
	}
	return p
}

// connect opens all edges, or none.
func (w *wirer) connect(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	w.progress(func() {}) // there may be nothing to do
	work.Go(func() { w.dialParent(ctx) })
	if !w.wiring.Stream { // a vw worker first connects, then accepts; what matters is that it does not answer before
		work.Go(func() { w.accept(ctx, &work) })
	} else {
		work.Go(func() { w.acceptStream(ctx) })
	}
	select {
	case <-w.ready:
		err = w.fault
	case <-w.over:
		err = errOver
	case <-ctx.Done():
		err = fmt.Errorf("rank %d: wiring: waiting for %s: %w", w.rank, w.missing(), context.Cause(ctx))
	}
	cancel()
	w.listener.Close()
	w.mu.Lock()
	w.done = true
	w.mu.Unlock()
	work.Wait()
	if err != nil {
		for _, c := range w.conns {
			if c != nil {
				c.Close()
			}
		}
	}
	return err
}

var errOver = errors.New("the epoch has ended")

// progress applies a change, and sees whether all edges are there.
func (w *wirer) progress(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	complete := true
	for e, c := range w.conns {
		complete = complete && (c != nil || w.place.Peer[e] == schedule.None)
	}
	if complete || w.fault != nil {
		select {
		case <-w.ready:
		default:
			close(w.ready)
		}
	}
}

// install takes a connection into its place. False: the place is taken, or it is
// too late.
func (w *wirer) install(e int, c net.Conn, host string) (ok bool) {
	w.progress(func() {
		if ok = w.conns[e] == nil && !w.done; ok {
			w.conns[e], w.hosts[e] = c, host
		}
	})
	return ok
}

// missing names the neighbours that are not connected yet.
func (w *wirer) missing() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for e, c := range w.conns {
		switch {
		case c != nil || w.place.Peer[e] == schedule.None:
		case !w.wiring.Stream:
			r := w.place.Peer[e]
			names = append(names, rankAt(r, w.wiring.Peers[r]))
		case e == schedule.Up:
			names = append(names, "the parent at "+w.wiring.Parent)
		default:
			names = append(names, "a child")
		}
	}
	return fmt.Sprint(names)
}

// dialParent connects to the parent, trying until ctx ends.
func (w *wirer) dialParent(ctx context.Context) {
	if w.place.Peer[schedule.Up] == schedule.None {
		return
	}
	addr := w.wiring.Parent
	if !w.wiring.Stream {
		addr = w.wiring.Peers[w.place.Peer[schedule.Up]]
	}
	for tries := 1; ; tries++ {
		c, err := w.net.Dial(ctx, addr)
		if err == nil && !w.wiring.Stream {
			if err = w.greet(ctx, c); err != nil {
				c.Close()
			}
		}
		if err == nil {
			if !w.install(schedule.Up, c, addr) {
				c.Close()
			}
			return
		}
		if ctx.Err() == nil && tries%25 == 1 {
			w.log.Warn("cannot reach the parent in the tree yet", "rank", w.rank, "parent", addr, "tries", tries, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(redial):
		}
	}
}

// greet says hello to the parent and hears its answer.
func (w *wirer) greet(ctx context.Context, c net.Conn) error {
	parent := w.place.Peer[schedule.Up]
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	c.SetDeadline(time.Now().Add(helloPatience))
	if _, err := c.Write(w.hello(parent)); err != nil {
		return err
	}
	h, err := w.heard(c)
	if err != nil {
		return err
	}
	if int(h.from) != parent {
		return fmt.Errorf("rank %d answers at the address of rank %d", h.from, parent)
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

// accept takes connections until ctx ends, each on its own, so that a silent
// one holds up nobody.
func (w *wirer) accept(ctx context.Context, work *sync.WaitGroup) {
	if w.place.Peer[schedule.Left] == schedule.None && w.place.Peer[schedule.Right] == schedule.None {
		return
	}
	strangers := make(chan struct{}, maxStrangers)
	for {
		c, err := w.listener.Accept()
		if err != nil {
			w.acceptFailed(ctx, err)
			return
		}
		select {
		case strangers <- struct{}{}:
		default:
			w.log.Warn("dropped a connection: too many have not said who they are", "rank", w.rank, "from", c.RemoteAddr(), "limit", maxStrangers)
			c.Close()
			continue
		}
		work.Go(func() {
			defer func() { <-strangers }()
			if err := w.welcome(ctx, c); err != nil {
				c.Close()
				if ctx.Err() == nil {
					w.log.Warn("dropped a connection", "rank", w.rank, "from", c.RemoteAddr(), "error", err)
				}
			}
		})
	}
}

func (w *wirer) acceptFailed(ctx context.Context, err error) {
	if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
		return
	}
	w.progress(func() { w.fault = fmt.Errorf("rank %d: cannot accept connections: %w", w.rank, err) })
}

// welcome hears who connects and, if it is a child, answers.
func (w *wirer) welcome(ctx context.Context, c net.Conn) error {
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	c.SetDeadline(time.Now().Add(helloPatience))
	h, err := w.heard(c)
	if err != nil {
		return err
	}
	edge := -1
	for _, e := range [...]int{schedule.Left, schedule.Right} {
		if int(h.from) == w.place.Peer[e] {
			edge = e
		}
	}
	if edge < 0 {
		return fmt.Errorf("rank %d is no child of this rank", h.from)
	}
	if _, err := c.Write(w.hello(int(h.from))); err != nil {
		return err
	}
	if !stop() {
		return context.Cause(ctx)
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return err
	}
	if !w.install(edge, c, w.wiring.Peers[h.from]) {
		return fmt.Errorf("rank %d is connected already", h.from)
	}
	return nil
}

// acceptStream takes as many connections as there are children: vw's workers do
// not say who they are.
func (w *wirer) acceptStream(ctx context.Context) {
	for _, e := range []int{schedule.Left, schedule.Right}[:w.wiring.Kids] {
		c, err := w.listener.Accept()
		if err != nil {
			w.acceptFailed(ctx, err)
			return
		}
		if !w.install(e, c, c.RemoteAddr().String()) {
			c.Close()
		}
	}
}
