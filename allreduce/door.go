// SPDX-License-Identifier: Apache-2.0

package allreduce

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

// door takes the connections of other ranks, as long as the group lives: those that
// become edges of the epoch, and those of ranks that take results or the state.
type door struct {
	group     *Group
	listener  net.Listener
	ctx       context.Context
	cancel    context.CancelFunc
	opened    sync.Once
	strangers strangers
	work      sync.WaitGroup
}

func newDoor(g *Group, l net.Listener) *door {
	d := &door{group: g, listener: l, strangers: strangers{most: strangersOf(transport.FileLimit())}}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// open begins to take connections.
func (d *door) open() {
	d.opened.Do(func() { d.work.Go(d.accept) })
}

func (d *door) close() {
	d.cancel()
	d.listener.Close() // it may be closed already, by the wiring of a job with vw workers
	d.work.Wait()
}

// accept takes connections, each on its own, so that a silent one holds up nobody.
func (d *door) accept() {
	log, rank := d.group.log, d.group.cfg.Rank
	a := &transport.Acceptor{Listener: d.listener, Shed: d.strangers.shed, Log: log.With("rank", rank)}
	defer a.Close()
	for {
		c, err := a.Accept(d.ctx)
		if err != nil {
			return // the door is closed
		}
		if !d.allowed(c) {
			log.Warn("dropped a connection: its address is not in a network of --allow", "rank", rank, "from", c.RemoteAddr())
			c.Close()
			continue
		}
		known := d.strangers.add(c)
		d.work.Go(func() {
			defer known()
			err := d.welcome(c, known)
			if err == nil {
				return
			}
			c.Close()
			if d.ctx.Err() == nil && !errors.Is(err, errNotYet) {
				log.Warn("dropped a connection", "rank", rank, "from", c.RemoteAddr(), "error", err)
			}
		})
	}
}

func (d *door) allowed(c net.Conn) bool {
	allow := d.group.cfg.Allow
	if len(allow) == 0 {
		return true
	}
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	return err == nil && address.In(host, allow)
}

// strangers are the connections that have not said yet who they are. Of too many the
// oldest is closed: a rank takes no time to say it, so the newest are the likeliest
// to be one.
type strangers struct {
	most int // how many there may be

	mu   sync.Mutex
	here []net.Conn // oldest first
}

// strangersOf bounds them by the descriptors that this process may have open. A rank needs
// most of these for connections that are known.
func strangersOf(descriptors int) int { return min(maxStrangers, max(4, descriptors/8)) }

// shed closes the oldest, and reports whether there was one.
func (s *strangers) shed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drop()
}

// drop is shed; the lock is held.
func (s *strangers) drop() bool {
	if len(s.here) == 0 {
		return false
	}
	s.here[0].Close() // its welcome says so
	s.here = s.here[1:]
	return true
}

// add takes a connection in, until known is called. That returns whether it is still
// there.
func (s *strangers) add(c net.Conn) (known func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.here) >= s.most {
		s.drop()
	}
	s.here = append(s.here, c)
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		n := len(s.here)
		s.here = slices.DeleteFunc(s.here, func(o net.Conn) bool { return o == c })
		return len(s.here) < n
	}
}

// errNotYet: the other rank is further than this one, and will try again.
var errNotYet = errors.New("this rank is still in an older epoch")

// welcome hears who connects, and what for. known ends a connection's being a stranger.
func (d *door) welcome(bare net.Conn, known func() bool) error {
	stop := context.AfterFunc(d.ctx, func() { bare.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	proven := func() bool { return known() && stop() }
	bare.SetDeadline(time.Now().Add(helloPatience))
	g := d.group
	c, err := g.cfg.Credentials.Server(d.ctx, bare)
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
		return g.steps.serve(c, h, b[:], known)
	}
	e := g.now()
	if e.wiring != nil && h.after(e.wiring.Epoch) {
		return errNotYet
	}
	if e.wirer == nil {
		return fmt.Errorf("rank %d has no reason to connect to this rank", h.from)
	}
	return e.wirer.welcome(c, h, b[:], proven)
}
