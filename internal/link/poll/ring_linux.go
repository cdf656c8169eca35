// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"fmt"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/shm"
	"github.com/gvw-project/gvw/internal/wire"
)

// Ring returns the carrier of a shared-memory ring.
func (c *conn) Ring() link.Carrier { return ringCarrier{c} }

// ringCarrier puts a ring over the socket of a connection. The goroutine that calls it holds io.
type ringCarrier struct{ c *conn }

// Offer makes the ring's segment, and returns where it is.
func (r ringCarrier) Offer() ([]byte, error) {
	seg, err := r.c.d.segments.Make(shm.RingBytes, 0)
	if err != nil {
		return nil, err
	}
	return appendWhere(nil, seg.Location()), r.c.putRing(seg, true)
}

// Accept opens the segment of an offer of link.MaxRingOffer bytes.
func (r ringCarrier) Accept(offer []byte) error {
	where, err := decodeWhere(offer)
	if err != nil {
		return err
	}
	seg, err := r.c.d.segments.Open(where)
	if err != nil {
		return err
	}
	return r.c.putRing(seg, false)
}

// SwitchOut writes to memory from here on.
func (r ringCarrier) SwitchOut() { r.c.ring.SwitchOut() }

// SwitchIn reads from memory from here on.
func (r ringCarrier) SwitchIn() {
	r.c.ring.Unlink()
	r.c.ring.SwitchIn()
}

// putRing puts a ring over the socket. first: this rank has made the segment.
func (c *conn) putRing(seg *shm.Segment, first bool) error {
	s, ok := c.sock.(*transport.Socket)
	if !ok {
		seg.Close()
		return fmt.Errorf("the link to %s has no socket of its own", link.RankAt(c.l.Rank, c.l.Host))
	}
	p, err := shm.NewRing(s, seg, first)
	if err != nil {
		seg.Close()
		return err
	}
	c.sock, c.ring = p, p
	return nil
}

// codeWhere codes the payload of an offer: process (4 bytes), descriptor (4), size in bytes (8),
// nonce (16).
func codeWhere(c *wire.Coder, w *shm.Location) {
	c.I32("process", &w.PID)
	c.I32("descriptor", &w.FD)
	c.I64("size", &w.Bytes)
	c.Raw("nonce", w.Nonce[:])
}

func appendWhere(dst []byte, w shm.Location) []byte {
	c := wire.Encode(dst)
	codeWhere(&c, &w)
	return c.Bytes()
}

func decodeWhere(b []byte) (w shm.Location, err error) {
	c := wire.Decode(b)
	if codeWhere(&c, &w); c.End() != nil {
		return shm.Location{}, fmt.Errorf("the offer of a ring: %w", c.Err())
	}
	return w, nil
}

// pollRing prepares the next try, as far as it goes through memory: a look at the ring's counters
// costs less than a system call. True: the system need not be asked.
func (c *conn) pollRing() bool {
	in, out := c.ring.Switched()
	if in && c.wanted {
		c.ready, c.wanted = true, false
	}
	if out && c.blocked {
		c.blocked = !c.ring.Room()
	}
	return (in || !c.wanted) && (out || !c.blocked)
}

// awaitRing lets p wait for the socket, and returns its place.
func (c *conn) awaitRing(p *transport.Poller) int {
	woken := false
	if c.blocked {
		_, woken = c.ring.Switched() // a wake-up byte arrives when there is room
	}
	return p.Add(c.sock.FD(), !c.held && !c.ready || woken, c.blocked && !woken)
}

// awaitedRing takes what a poll has found.
func (c *conn) awaitedRing(read, write bool) {
	if read {
		c.ring.SocketReadable()
	}
	c.ready = c.ready || read || c.ring.Pending()
	if _, out := c.ring.Switched(); out {
		write = c.ring.Room()
	}
	c.blocked = c.blocked && !write
}

// armRings asks the peers for wake-up bytes on the sockets, before a wait: a poll does not see memory.
// True: there is something to do already.
func armRings(conns []*conn) (some bool) {
	for _, c := range conns {
		if c.ring != nil && c.up.Load() && c.ring.Arm(!c.held && !c.ready, c.blocked) {
			some = true
		}
	}
	return some
}

// disarmRings withdraws the request of armRings.
func disarmRings(conns []*conn) {
	for _, c := range conns {
		if c.ring != nil && c.up.Load() {
			c.ring.Disarm()
		}
	}
}
