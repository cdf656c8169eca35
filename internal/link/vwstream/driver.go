// SPDX-License-Identifier: Apache-2.0

package vwstream

import (
	"bufio"
	"io"

	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/link/netconn"
)

// Handler is the owner's side of one connection of vw's stream.
type Handler interface {
	// NextChunk returns the memory for the next bytes, and whether they are the last of their call.
	// ok false: they have no place yet. It is called under the set's lock.
	NextChunk() (dst []byte, last, ok bool)
	// StreamReceived takes a chunk that lies in the memory of NextChunk. It gets the number of
	// bytes of all calls up to that chunk.
	StreamReceived(data []byte, last bool, taken int64)
	// StreamEnded takes the end of the connection before the first byte of a call. It returns a
	// failure, or nil if the peer may leave at this point.
	StreamEnded(err error) error
}

// NewDriver returns the driver of a set whose links carry vw's stream. handler returns the owner's side
// of a link.
func NewDriver(s *link.Set, handler func(*link.Link) Handler) link.Driver {
	return netconn.NewReader(s, func(c *netconn.Conn) error {
		r := reader{Conn: c, h: handler(c.Link), set: s}
		return r.read()
	})
}

// reader reads one connection.
type reader struct {
	*netconn.Conn
	h   Handler
	set *link.Set
}

func (r *reader) read() error {
	br := bufio.NewReaderSize(r.Conn, link.ReadAhead)
	for taken := int64(0); ; {
		// Wait for the first byte of a call, so that an end between two calls is
		// seen as one.
		if _, err := br.Peek(1); err != nil {
			return r.h.StreamEnded(err)
		}
		for last := false; !last; {
			var buf []byte
			var ok bool
			if buf, last, ok = r.next(); !ok {
				return nil // the set has ended
			}
			if _, err := io.ReadFull(br, buf); err != nil {
				return &link.BrokenError{Err: err}
			}
			taken += int64(len(buf))
			r.h.StreamReceived(buf, last, taken)
		}
	}
}

// next waits until the next bytes have a place. False: the set has ended.
func (r *reader) next() (dst []byte, last, ok bool) {
	r.set.Mu.Lock()
	defer r.set.Mu.Unlock()
	for !r.set.Stopped() {
		if dst, last, ok := r.h.NextChunk(); ok {
			return dst, last, true
		}
		r.Link.Hold()
		r.set.Mu.Unlock()
		r.Await()
		r.set.Mu.Lock()
	}
	return nil, false, false
}
