// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// conn is one end of a connection. It reads from one pipe and writes to another.
type conn struct {
	n             *Network
	in, out       *pipe
	local, remote address
	once          sync.Once
	closed        chan struct{}
	read, write   *deadline
}

var _ net.Conn = (*conn)(nil)

func newConn(n *Network, in, out *pipe, local, remote address) *conn {
	return &conn{
		n: n, in: in, out: out, local: local, remote: remote,
		closed: make(chan struct{}), read: newDeadline(), write: newDeadline(),
	}
}

func (c *conn) Read(b []byte) (int, error) {
	for {
		if err := c.usable(c.read); err != nil {
			return 0, c.fault("read", err)
		}
		n, err := c.in.read(b)
		if err == io.EOF {
			return n, err
		}
		if err != errAgain {
			return n, c.fault("read", err)
		}
		select {
		case <-c.in.readable:
		case <-c.closed:
		case <-c.read.expired():
		}
	}
}

func (c *conn) Write(b []byte) (int, error) {
	done := 0
	for {
		if err := c.usable(c.write); err != nil {
			return done, c.fault("write", err)
		}
		n, err := c.out.write(b[done:])
		done += n
		if err != errAgain {
			return done, c.fault("write", err)
		}
		select {
		case <-c.out.writable:
		case <-c.closed:
		case <-c.write.expired():
		}
	}
}

// usable returns an error if the connection is closed at this end or past its deadline.
func (c *conn) usable(d *deadline) error {
	select {
	case <-c.closed:
		return net.ErrClosed
	case <-d.expired():
		return os.ErrDeadlineExceeded
	default:
		return nil
	}
}

func (c *conn) fault(op string, err error) error {
	if err == nil {
		return nil
	}
	return &net.OpError{Op: op, Net: "mem", Source: c.local, Addr: c.remote, Err: err}
}

// Close ends both directions. The peer reads the bytes in transit and then the end of
// the stream. If this end leaves bytes unread, the peer gets a reset, as with TCP.
func (c *conn) Close() error {
	err := net.ErrClosed
	c.once.Do(func() {
		err = nil
		close(c.closed)
		if c.in.abort(syscall.EPIPE) > 0 {
			c.out.abort(syscall.ECONNRESET)
		} else {
			c.out.close()
		}
		c.n.forget(c)
	})
	return err
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.read.set(t)
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.write.set(t)
	return nil
}

// deadline is a channel that closes at a time, which may be moved.
type deadline struct {
	mu    sync.Mutex
	timer *time.Timer
	ch    chan struct{} // closed: expired
}

func newDeadline() *deadline { return &deadline{ch: make(chan struct{})} }

func (d *deadline) expired() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ch
}

// set moves the deadline to t, also for a pending wait. The zero time means never.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	select {
	case <-d.ch:
		d.ch = make(chan struct{})
	default:
	}
	if t.IsZero() {
		return
	}
	ch := d.ch
	expire := func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.ch == ch { // otherwise it fired while it was being moved
			select {
			case <-ch:
			default:
				close(ch)
			}
		}
	}
	if in := time.Until(t); in > 0 {
		d.timer = time.AfterFunc(in, expire)
		return
	}
	close(ch)
}
