// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/transport"
)

// A Ring is a Socket to another process of the machine that carries bytes through
// shared memory once both ends have switched. Each direction switches separately: the
// writer after its last byte over the socket (SwitchOut), the reader after it has read that
// byte (SwitchIn). From then on the socket carries only wake-ups, and the end of the socket is
// the end of the ring.
//
// An end that is about to wait for the descriptor calls Arm. After the wait it calls
// Disarm and, if the descriptor was readable, SocketReadable. Like a Socket, each end is used by one
// goroutine at a time.
type Ring struct {
	*transport.Socket
	seg            *Segment
	in, out        buffer
	switched       [2]bool  // by direction: in, out
	socketReadable bool     // the socket may have something to read
	polls          int      // reads of memory since the last read of the socket
	scrap          [64]byte // for the bytes of wake-ups
}

// pollsPerSocketRead is the number of reads of an empty pipe per read of its socket, which is a
// system call. An end that polls needs none of these.
const pollsPerSocketRead = 32

// RingBytes is the size in bytes of a segment for a ring, without its head.
const RingBytes = 2 * bufferAll

// NewRing makes a ring of a socket and a segment of RingBytes, which the far end uses, too.
// first: this end made the segment. The ring owns both.
func NewRing(s *transport.Socket, seg *Segment, first bool) (*Ring, error) {
	if len(seg.Bytes()) != RingBytes {
		return nil, fmt.Errorf("shm: the segment for a ring has %d bytes: want %d", len(seg.Bytes()), RingBytes)
	}
	p := &Ring{Socket: s, seg: seg, in: newBuffer(seg, 0), out: newBuffer(seg, bufferAll)}
	if first {
		p.in, p.out = p.out, p.in
	}
	return p, nil
}

// SwitchIn switches reading to memory.
func (p *Ring) SwitchIn() { p.switched[0] = true }

// SwitchOut switches writing to memory.
func (p *Ring) SwitchOut() { p.switched[1] = true }

// Switched reports which directions use memory.
func (p *Ring) Switched() (in, out bool) { return p.switched[0], p.switched[1] }

// Unlink removes the segment's path, after the far end has opened it.
func (p *Ring) Unlink() { p.seg.Unlink() }

// Read reads without blocking, as Socket.Read does.
func (p *Ring) Read(b []byte) (int, error) {
	if !p.switched[0] {
		return p.Socket.Read(b)
	}
	n, err := p.take(b)
	if n > 0 || err != nil || len(b) == 0 {
		return n, err
	}
	if p.polls++; !p.socketReadable && p.polls%pollsPerSocketRead != 0 {
		return 0, transport.ErrAgain
	}
	return p.readSocket(b)
}

// readSocket reads the socket, then memory again: there may be bytes that were written before the
// end of the socket, or before its wake-up.
func (p *Ring) readSocket(b []byte) (int, error) {
	_, err := p.Socket.Read(p.scrap[:])
	if p.socketReadable = err == nil; p.socketReadable { // there may be more wake-ups
		err = transport.ErrAgain
	}
	if n, broken := p.take(b); n > 0 || broken != nil {
		return n, broken
	}
	return 0, err
}

// take reads from memory, and wakes a writer that waits for room.
func (p *Ring) take(b []byte) (int, error) {
	n, err := p.in.take(b)
	if n > 0 && takeWakeup(p.in.writerWaits) {
		p.wakePeer()
	}
	return n, err
}

// Write writes without blocking, as Socket.Write does.
func (p *Ring) Write(a, b []byte) (int, error) {
	if !p.switched[1] {
		return p.Socket.Write(a, b)
	}
	n, err := p.out.put(a)
	if err == nil && n == len(a) {
		var more int
		more, err = p.out.put(b)
		n += more
	}
	if n > 0 && takeWakeup(p.out.readerWaits) {
		p.wakePeer()
	}
	if n == 0 && err == nil && len(a)+len(b) > 0 {
		err = transport.ErrAgain
	}
	return n, err
}

// wakePeer wakes the far end. Before this end has switched, the far end waits for frames on the
// socket, and the switch itself wakes it.
func (p *Ring) wakePeer() {
	if p.switched[1] {
		_, _ = p.Socket.Write(p.scrap[:1], nil) // a full socket has enough wake-ups; Read reports an end
	}
}

// Pending reports whether memory has bytes to read.
func (p *Ring) Pending() bool { return p.switched[0] && !p.in.empty() }

// Room reports whether memory has room to write.
func (p *Ring) Room() bool { return p.switched[1] && !p.out.full() }

// Arm requests a wake-up through the socket when memory has something to read, or room to
// write. It reports whether that is already the case.
func (p *Ring) Arm(read, write bool) bool {
	if read && p.switched[0] {
		p.in.readerWaits.Store(1)
	}
	if write && p.switched[1] {
		p.out.writerWaits.Store(1)
	}
	return read && p.Pending() || write && p.Room()
}

// Disarm cancels the request.
func (p *Ring) Disarm() {
	if p.switched[0] {
		p.in.readerWaits.Store(0)
	}
	if p.switched[1] {
		p.out.writerWaits.Store(0)
	}
}

// SocketReadable records that the socket is readable.
func (p *Ring) SocketReadable() { p.socketReadable = true }

// Close closes the connection and unmaps the memory. Later calls find the closed
// socket.
func (p *Ring) Close() error {
	p.switched = [2]bool{}
	return errors.Join(p.Socket.Close(), p.seg.Close())
}
