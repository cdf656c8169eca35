// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/link"
)

const (
	// watchTick is how often the watcher looks whether a collective is under way; watchMax is how
	// often when one has been for long.
	watchTick = 20 * time.Millisecond
	watchMax  = 200 * time.Millisecond
)

// watch is the idle watcher: it reads from the links while no collective is under way, so that
// an end or a fault is noticed also then. It takes io only when no goroutine holds it, and it
// waits without it: a collective that begins never waits for the watcher.
func (d *Loop) watch() {
	var poll transport.Poller
	defer poll.Close()
	pause := watchTick
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-d.set.Failed:
			return
		}
		timer.Reset(pause)
		if d.set.Over() {
			return
		}
		if !d.io.TryLock() {
			pause = min(2*pause, watchMax)
			continue
		}
		pause = watchTick
		more, l, err := d.watchOnce(&poll)
		d.io.Unlock()
		if err != nil {
			l.Fail(err)
			return
		}
		if !more && !d.set.Over() { // the end of the set rings after Over
			poll.Wait(-1)
		}
	}
}

// watchOnce reads everything that has arrived on any link, and prepares the wait for the
// next bytes. more: some have arrived already.
func (d *Loop) watchOnce(poll *transport.Poller) (more bool, l *link.Link, err error) {
	d.bell.Clear()
	d.rung = false
	d.kept = d.attached.Load() // before the snapshot, which has at least these
	d.snapshot()
	silenceVerbs(d.all)
	for _, c := range d.all {
		if c.ring != nil {
			c.ring.SocketReadable()
		}
		if err := c.drain(); err != nil {
			return false, c.l, err
		}
	}
	poll.Clear()
	held, carried := false, false
	for _, c := range d.all {
		held, carried = held || c.held, carried || c.l.Ring.In || c.l.Verbs.In
		switch {
		case !c.up.Load():
		case c.l.Stream != nil:
			c.alarm = c.l.Verbs.In
			c.awaitIn(poll, !c.held, c.blocked && c.l.Outbox().Message != 0)
		default:
			poll.Add(c.sock.FD(), !c.held, false)
		}
	}
	poll.AddWaker(d.bell.Waker)
	more = armVerbs(d.all)
	more = armRings(d.all) || more
	d.partial = held || carried
	d.aside.Store(held) // from here on a Wake rings
	for _, c := range d.all {
		more = more || c.held && c.pullDue()
	}
	return more, nil, nil
}

// drain reads everything that has arrived, and writes the messages of the upgrade to verbs.
func (c *conn) drain() error {
	for c.ready = true; c.up.Load() && c.pullDue(); {
		if _, err := c.pull(); err != nil {
			return err
		}
	}
	if !c.up.Load() {
		return nil
	}
	if c.l.UpgradeDue() {
		if err := c.l.Upgrade(); err != nil {
			return err
		}
	}
	for (c.l.Verbs.Due() || c.l.Outbox().Message != 0 && c.full) && !c.held {
		c.blocked = false
		if !c.push() {
			break
		}
	}
	return nil
}

// pullDue reports whether pull may have something to do.
func (c *conn) pullDue() bool {
	if c.held {
		return c.freed.Load()
	}
	return c.ready
}
