// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"errors"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/verbs"
)

const (
	// flushVerbsWithin is how long Stop waits for bytes that verbs streams still carry.
	flushVerbsWithin = 500 * time.Millisecond
	// verbsGrace is how long after the end of the connection a stream may still bring bytes that
	// were written before.
	verbsGrace = 10 * time.Millisecond
	// probeEvery is the number of reads in vain between two looks at the connection.
	probeEvery = 64
)

// read reads from the connection, or from the stream that carries the link. A stream does not notice a
// dead peer, so the connection is probed now and then, and when the poll reports it.
func (c *conn) read(b []byte) (int, error) {
	if !c.l.Verbs.In {
		return c.sock.Read(b)
	}
	n, err := c.l.Stream.Read(b)
	if n > 0 || err == nil {
		c.empty = 0
		return n, nil
	}
	if c.empty++; err == verbs.ErrAgain && !c.alarm && c.end == nil && c.empty%probeEvery != 0 {
		return 0, transport.ErrAgain
	}
	c.alarm = false
	if c.end == nil {
		c.probeSocket()
	}
	switch {
	case c.end != nil && err == verbs.ErrAgain && time.Since(c.ended) < verbsGrace:
		return 0, transport.ErrAgain
	case c.end != nil:
		return 0, c.end // the connection's error names the cause better than the stream's
	case err == verbs.ErrAgain:
		return 0, transport.ErrAgain
	}
	return 0, err
}

// probeSocket looks whether the connection beside a stream has ended.
func (c *conn) probeSocket() {
	_, err := c.sock.Read(c.probe[:])
	switch err {
	case transport.ErrAgain:
		return
	case nil:
		err = errors.New("bytes over TCP after the switch to verbs")
	}
	c.end, c.ended = err, time.Now()
}

// write writes to the connection, or to the stream that carries the link.
func (c *conn) write(head, data []byte) (int, error) {
	if !c.l.Verbs.Out {
		return c.sock.Write(head, data)
	}
	n, err := c.l.Stream.Write(head, data)
	if err == verbs.ErrAgain {
		err = transport.ErrAgain
	}
	return n, err
}

// armVerbs asks the streams for an event when bytes or room arrive. True: some have arrived already,
// and the caller must not wait.
func armVerbs(conns []*conn) (news bool) {
	for _, c := range conns {
		v := &c.l.Verbs
		if !c.up.Load() || !v.In && !v.Out {
			continue
		}
		read := v.In && !c.held
		if c.l.Stream.Arm(read, c.blocked && v.Out) {
			c.ready = c.ready || read
			c.blocked = c.blocked && !v.Out
			news = true
		}
		news = news || read && c.end != nil
	}
	return news
}

// silenceVerbs acknowledges the events that have been seen, so that the next poll sleeps.
func silenceVerbs(conns []*conn) {
	for _, c := range conns {
		if c.up.Load() && c.l.Stream != nil {
			c.l.Stream.Silence()
		}
	}
}

// flushVerbs waits until the streams have delivered what was written, or their peers are gone.
func (d *Loop) flushVerbs() {
	deadline := time.Now().Add(flushVerbsWithin)
	for _, c := range d.all {
		for c.up.Load() && c.l.Verbs.Out && !c.l.Stream.Flushed() && time.Now().Before(deadline) {
			if c.probeSocket(); c.end != nil {
				break
			}
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// closeVerbs closes the stream of a link that no goroutine uses any more.
func (c *conn) closeVerbs() {
	if c.l.Stream == nil {
		return
	}
	if err := c.l.Stream.Close(); err != nil {
		set := c.d.set
		set.Log.Error("cannot close a queue pair", "rank", set.Rank, "to", c.l.Rank, "error", err)
	}
}
