// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"errors"
	"fmt"
)

// A Pipe is a Socket to another process of the machine that carries bytes through
// shared memory once both ends have switched. Each direction switches separately: the
// writer after its last byte over the socket (SwitchOut), the reader after it has read that
// byte (SwitchIn). From then on the socket carries only wake-ups, and the end of the socket is
// the end of the pipe.
//
// An end that is about to wait for the descriptor calls Arm. After the wait it calls
// Disarm and, if the descriptor was readable, SocketReadable. Like a Socket, each end is used by one
// goroutine at a time.
type Pipe struct {
	*Socket
	seg            *Segment
	in, out        ring
	switched       [2]bool  // by direction: in, out
	socketReadable bool     // the socket may have something to read
	polls          int      // reads of memory since the last read of the socket
	scrap          [64]byte // for the bytes of wake-ups
}

// pollsPerSocketRead is the number of reads of an empty pipe per read of its socket, which is a
// system call. An end that polls needs none of these.
const pollsPerSocketRead = 32

// PipeBytes is the size in bytes of a segment for a pipe, without its head.
const PipeBytes = 2 * ringAll

// NewPipe makes a pipe of a socket and a segment of PipeBytes, which the far end uses, too.
// first: this end made the segment. The pipe owns both.
func NewPipe(s *Socket, seg *Segment, first bool) (*Pipe, error) {
	if len(seg.Bytes()) != PipeBytes {
		return nil, fmt.Errorf("transport: the segment for a pipe has %d bytes: want %d", len(seg.Bytes()), PipeBytes)
	}
	p := &Pipe{Socket: s, seg: seg, in: newRing(seg, 0), out: newRing(seg, ringAll)}
	if first {
		p.in, p.out = p.out, p.in
	}
	return p, nil
}

// SwitchIn switches reading to memory.
func (p *Pipe) SwitchIn() { p.switched[0] = true }

// SwitchOut switches writing to memory.
func (p *Pipe) SwitchOut() { p.switched[1] = true }

// Switched reports which directions use memory.
func (p *Pipe) Switched() (in, out bool) { return p.switched[0], p.switched[1] }

// Unlink removes the segment's path, after the far end has opened it.
func (p *Pipe) Unlink() { p.seg.Unlink() }

// Read reads without blocking, as Socket.Read does.
func (p *Pipe) Read(b []byte) (int, error) {
	if !p.switched[0] {
		return p.Socket.Read(b)
	}
	n, err := p.in.take(b)
	if n > 0 || err != nil || len(b) == 0 {
		if n > 0 && takeWakeup(p.in.writerWaits) {
			p.wakePeer()
		}
		return n, err
	}
	if p.polls++; !p.socketReadable && p.polls%pollsPerSocketRead != 0 {
		return 0, ErrAgain
	}
	_, err = p.Socket.Read(p.scrap[:])
	if p.socketReadable = err == nil; p.socketReadable { // there may be more wake-ups
		err = ErrAgain
	}
	if n, broken := p.in.take(b); n > 0 || broken != nil {
		return n, broken // it was written before the end, or before the wake-up
	}
	return 0, err
}

// Write writes without blocking, as Socket.Write does.
func (p *Pipe) Write(a, b []byte) (int, error) {
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
		err = ErrAgain
	}
	return n, err
}

// wakePeer wakes the far end. Before this end has switched, the far end waits for frames on the
// socket, and the switch itself wakes it.
func (p *Pipe) wakePeer() {
	if p.switched[1] {
		_, _ = p.Socket.Write(p.scrap[:1], nil) // a full socket has enough wake-ups; Read reports an end
	}
}

// Pending reports whether memory has bytes to read.
func (p *Pipe) Pending() bool { return p.switched[0] && !p.in.empty() }

// Room reports whether memory has room to write.
func (p *Pipe) Room() bool { return p.switched[1] && !p.out.full() }

// Arm requests a wake-up through the socket when memory has something to read, or room to
// write. It reports whether that is already the case.
func (p *Pipe) Arm(read, write bool) bool {
	if read && p.switched[0] {
		p.in.readerWaits.Store(1)
	}
	if write && p.switched[1] {
		p.out.writerWaits.Store(1)
	}
	return read && p.Pending() || write && p.Room()
}

// Disarm cancels the request.
func (p *Pipe) Disarm() {
	if p.switched[0] {
		p.in.readerWaits.Store(0)
	}
	if p.switched[1] {
		p.out.writerWaits.Store(0)
	}
}

// SocketReadable records that the socket is readable.
func (p *Pipe) SocketReadable() { p.socketReadable = true }

// Close closes the connection and unmaps the memory. Later calls find the closed
// socket.
func (p *Pipe) Close() error {
	p.switched = [2]bool{}
	return errors.Join(p.Socket.Close(), p.seg.Close())
}
