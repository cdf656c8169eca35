// SPDX-License-Identifier: Apache-2.0

// Package netconn is the portable driver of links: over any net.Conn, with a goroutine that reads and
// one that writes for each link. Neither ever waits for the other, so ranks that send to each
// other in a ring cannot block.
package netconn

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/gvw-project/gvw/internal/link"
)

// copyLimit is the largest chunk, in bytes, that is copied behind its header and written at once.
// Longer chunks are written from the owner's memory.
const copyLimit = 8 << 10

// Driver is the driver of a set's links.
type Driver struct {
	set     *link.Set
	read    func(*Conn) error
	readers sync.WaitGroup
	writers sync.WaitGroup
}

var _ link.Driver = (*Driver)(nil)

// New returns the driver of a set whose links carry frames.
func New(s *link.Set) *Driver { return NewReader(s, (*Conn).readFrames) }

// NewReader returns a driver with another reader. read runs in a goroutine of its own for each link,
// until the link has ended. It returns nil if that is no failure.
func NewReader(s *link.Set, read func(*Conn) error) *Driver { return &Driver{set: s, read: read} }

// Conn is the driver's handle of a link.
type Conn struct {
	Link     *link.Link
	set      *link.Set
	readable chan struct{} // capacity 1: the reader may go on
	writable chan struct{} // capacity 1: the writer may go on
	pair     [2][]byte     // head and data, for one write
	bufs     net.Buffers
}

var _ link.Handle = (*Conn)(nil)

// Attach starts the goroutines of a link.
func (d *Driver) Attach(l *link.Link) (link.Handle, error) {
	c := &Conn{Link: l, set: d.set, readable: make(chan struct{}, 1), writable: make(chan struct{}, 1)}
	d.readers.Go(func() {
		if err := d.read(c); err != nil {
			l.Fail(err)
		}
	})
	d.writers.Go(c.write)
	return c, nil
}

// Carry waits: the goroutines of the links do the work.
func (d *Driver) Carry(ctx context.Context, done <-chan struct{}, _ []*link.Link) {
	select {
	case <-done:
	case <-d.set.Failed:
	case <-ctx.Done():
	}
}

// Wake does nothing: Carry waits for the channels.
func (d *Driver) Wake() {}

// Wake wakes the goroutines of the link that wait. A goroutine notes under the set's lock that it
// waits, so no wake-up is lost.
func (c *Conn) Wake() {
	reader, writer := c.Link.Resume()
	if reader {
		poke(c.readable)
	}
	if writer {
		poke(c.writable)
	}
	// Goroutines whose wait may be in vain do not wait for long.
	if c.Link.Broken() {
		c.Link.Conn.SetReadDeadline(time.Now().Add(link.FlushWithin))
	}
	if c.set.Down() {
		c.Link.Conn.SetWriteDeadline(time.Now().Add(link.FlushWithin))
	}
}

// Ring returns nil: this driver keeps to connections.
func (c *Conn) Ring() link.Carrier { return nil }

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // a wake-up is pending
	}
}

// Attend does nothing: the readers notice everything.
func (d *Driver) Attend() {}

// Upgrades returns false.
func (d *Driver) Upgrades() bool { return false }

// FlushErrors waits for the writers. The deadlines of Wake bound the wait.
func (d *Driver) FlushErrors() { d.writers.Wait() }

// Stop closes the connections. It does not wait for the goroutines.
func (d *Driver) Stop() {
	for _, l := range d.set.AppendOpen(nil) {
		_ = l.Conn.Close() // nothing is expected of it any more
	}
}

// Cut closes the connections.
func (d *Driver) Cut() { d.Stop() }

// Wait waits until all readers and writers have ended.
func (d *Driver) Wait() {
	d.readers.Wait()
	d.writers.Wait()
}

// readFrames is the reader of a link with frames. Bytes that arrived before the end of the connection
// are decoded first: a fault frame among them has the reason for the end.
func (c *Conn) readFrames() error {
	l := c.Link
	var ended error
	for {
		held, err := l.Digest()
		switch {
		case err != nil:
			return err
		case held:
			if c.set.Over() {
				return nil
			}
			c.Await()
			continue
		case ended != nil:
			return &link.BrokenError{Err: ended}
		}
		var n int
		n, ended = l.Conn.Read(l.Space())
		l.Filled(n)
	}
}

// Await waits until Wake is called after link.Hold, or the set has failed.
func (c *Conn) Await() {
	select {
	case <-c.readable:
	case <-c.set.Failed:
	}
}

// Read reads from the connection and counts the bytes.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.Link.Conn.Read(b)
	c.Link.CountIn(n)
	return n, err
}

// write is the writer of a link. It ends when the link will have nothing to write any more, or after a
// failed write: then the reader finds the reason.
func (c *Conn) write() {
	l := c.Link
	o := l.Outbox()
	for {
		ok, over := l.Compose()
		switch {
		case over:
			return
		case !ok:
			<-c.writable
			continue
		}
		l.SetWriting(true)
		err := c.put(o)
		l.SetWriting(false)
		l.CountOut(len(o.Data))
		if err != nil {
			l.Break()
			return
		}
		l.Wrote()
	}
}

// put writes an outbox: by one write where data is short, and without a copy where it is long.
func (c *Conn) put(o *link.Outbox) (err error) {
	conn := c.Link.Conn
	switch {
	case len(o.Head) == 0:
		_, err = conn.Write(o.Data)
	case len(o.Data) <= copyLimit:
		o.Head = append(o.Head, o.Data...)
		_, err = conn.Write(o.Head)
	default:
		c.pair = [2][]byte{o.Head, o.Data}
		c.bufs = c.pair[:]
		_, err = c.bufs.WriteTo(conn)
		c.pair = [2][]byte{}
	}
	return err
}
