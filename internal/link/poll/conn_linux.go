// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/shm"
)

// smallData is the largest chunk, in bytes, that is copied behind its header: one piece of memory
// costs the system less than two.
const smallData = 512

// conn is the loop's handle of a link. Its fields belong to the goroutine that holds io, unless they
// are atomic.
type conn struct {
	l       *link.Link
	d       *Loop
	up      atomic.Bool // sock is open; false after Stop
	sock    socket
	ring    *shm.Ring   // is sock, where that may go through a ring
	place   int         // in the poller; -1: not in it
	beside  int         // of the verbs stream
	ready   bool        // there may be something to read
	held    bool        // what has been read waits for the handler
	unsent  atomic.Bool // there may be something new to write
	freed   atomic.Bool // the handler may have made room for what is held
	wanted  bool        // selectReady: it is worth a read
	blocked bool        // there was no room to write
	at      int         // bytes of the outbox that are written
	full    bool        // the outbox is not written yet

	// Of a link that a verbs stream carries.
	alarm bool      // there may be news of the connection
	empty int       // reads in vain
	ended time.Time // when the connection has ended
	end   error     // why; nil: it has not
	probe [1]byte
}

var _ link.Handle = (*conn)(nil)

// socket is a connection that a loop can drive without ever waiting for it.
type socket interface {
	Read(b []byte) (int, error)
	Write(head, data []byte) (int, error)
	FD() int // which a poll finds ready
	Shut()   // ends the connection, both ways; the descriptor stays
	Close() error
}

// Wake makes the loop look at the connection, and the watcher if it has set a link aside.
func (c *conn) Wake() {
	c.unsent.Store(true)
	c.freed.Store(true)
	d := c.d
	d.bell.wake()
	if d.aside.Load() && d.aside.CompareAndSwap(true, false) {
		d.bell.Wake()
	}
}

// push writes what the link has to write, once. A failed write is no failure yet: the
// peer may have sent its last frame before it closed the connection, and the next pull returns that
// frame or the reason.
func (c *conn) push() (moved bool) {
	if c.blocked {
		return false
	}
	o := c.l.Outbox()
	if !c.full {
		if !c.unsent.Load() {
			return false
		}
		c.unsent.Store(false) // before the look: later news set it again
		if ok, _ := c.l.Compose(); !ok {
			return false
		}
		if len(o.Data) <= smallData {
			o.Head, o.Data = append(o.Head, o.Data...), nil
		}
		c.full, c.at = true, 0
		if !o.Part { // there may be more; a chunk sets it by Wake
			c.unsent.Store(true)
		}
	}
	done := min(c.at, len(o.Head))
	head, data := o.Head[done:], o.Data[c.at-done:]
	n, err := c.write(head, data)
	c.at += n
	switch {
	case err == transport.ErrAgain:
	case err != nil:
		c.full = false
		c.l.Break()
		c.ready = true
		return true
	case o.Part:
		c.l.CountOut(n)
	}
	c.full = c.at < len(o.Head)+len(o.Data)
	c.blocked = c.full
	c.l.SetWriting(c.full)
	if !c.full {
		c.l.Wrote()
	}
	return n > 0
}

// pull reads what has arrived, once, and decodes it. While the handler holds back a frame nothing is
// read, so that the peer's writes block and memory stays bounded.
func (c *conn) pull() (moved bool, err error) {
	if c.held {
		if !c.freed.Load() {
			return false, nil
		}
		c.freed.Store(false)
		if err = c.digest(); err != nil || c.held {
			return false, err
		}
		moved = true
	}
	if !c.ready {
		return moved, nil
	}
	b := c.l.Space()
	n, err := c.read(b)
	if n < len(b) {
		c.ready = false
	}
	switch {
	case err == transport.ErrAgain:
		return moved, nil
	case err != nil:
		return false, &link.BrokenError{Err: err}
	}
	c.l.Filled(n)
	return true, c.digest()
}

// digest decodes what has been read. If the link has switched to another carrier, the watcher does not
// wait for that one yet.
func (c *conn) digest() (err error) {
	ring, verbs := c.l.Ring.In, c.l.Verbs.In
	c.held, err = c.l.Digest()
	if c.l.Ring.In != ring || c.l.Verbs.In != verbs {
		c.d.partial = true
	}
	return err
}

// awaitIn lets p wait for the connection, too: for bytes with read, for room with write. A link on a verbs
// stream waits for the stream's events, and for the end of the connection.
func (c *conn) awaitIn(p *transport.Poller, read, write bool) {
	if c.beside = -1; c.ring != nil {
		c.place = c.awaitRing(p)
		return
	}
	v := &c.l.Verbs
	c.place = p.Add(c.sock.FD(), read && c.end == nil, write && !v.Out)
	if read && v.In || write && v.Out {
		c.beside = p.Add(c.l.Stream.FD(), true, false)
	}
}

// awaited takes what p has found.
func (c *conn) awaited(p *transport.Poller) {
	read, write := p.Ready(c.place)
	if c.ring != nil {
		c.awaitedRing(read, write)
		return
	}
	v := &c.l.Verbs
	c.ready = c.ready || read
	c.alarm = c.alarm || read && v.In
	c.blocked = c.blocked && !(write && !v.Out)
	if c.beside < 0 {
		return
	}
	if news, _ := p.Ready(c.beside); news {
		c.l.Stream.Silence()
		c.ready = c.ready || v.In
		c.blocked = c.blocked && !v.Out
	}
}
