// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// door takes the connections of other ranks, as long as the group lives: those that
// become edges of the epoch, and those of ranks that take results or the state.
type door struct {
	group    *Group
	listener net.Listener
	ctx      context.Context
	cancel   context.CancelFunc
	opened   sync.Once
	work     sync.WaitGroup
}

func newDoor(g *Group, l net.Listener) *door {
	d := &door{group: g, listener: l}
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
	strangers := make(chan struct{}, maxStrangers)
	for {
		c, err := d.listener.Accept()
		if err != nil {
			if d.ctx.Err() == nil && !errors.Is(err, net.ErrClosed) {
				if w := d.group.now().wirer; w != nil {
					w.acceptFailed(err)
				}
			}
			return
		}
		select {
		case strangers <- struct{}{}:
		default:
			log.Warn("dropped a connection: too many have not said who they are", "rank", rank, "from", c.RemoteAddr(), "limit", maxStrangers)
			c.Close()
			continue
		}
		d.work.Go(func() {
			defer func() { <-strangers }()
			err := d.welcome(c)
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

// errNotYet: the other rank is further than this one, and will try again.
var errNotYet = errors.New("this rank is still in an older epoch")

// welcome hears who connects, and what for.
func (d *door) welcome(c net.Conn) error {
	stop := context.AfterFunc(d.ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	c.SetDeadline(time.Now().Add(helloPatience))
	var b [helloSize]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		return err
	}
	h, err := decodeHello(b[:])
	if err != nil {
		return err
	}
	g := d.group
	if h.pull {
		defer c.Close()
		return g.steps.serve(c, h)
	}
	e := g.now()
	if e.wiring != nil && h.after(e.wiring.Epoch) {
		return errNotYet
	}
	if e.wirer == nil {
		return fmt.Errorf("rank %d has no reason to connect to this rank", h.from)
	}
	return e.wirer.welcome(c, h, stop)
}
