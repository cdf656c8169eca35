// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"errors"
	"fmt"
)

// A Pipe is a Socket to another process of the machine that carries bytes through
// memory once both ends have turned to it, each direction for itself: the writer after
// its last byte over the socket (TurnOut), the reader after it has read that (TurnIn).
// From then on the socket carries nothing but wake-up calls, and its end is the end of
// the pipe.
//
// Before it waits for the descriptor, an end says so (Arm); after the wait, that it is
// awake (Disarm), and if there was something to read there, that it was called (Call).
// An end does all that from one goroutine at a time, as with a Socket.
type Pipe struct {
	*Socket
	seg     *Segment
	in, out ring
	turned  [2]bool // in, out
	called  bool    // there is something on the socket
	tries   int     // to read, without a look at the socket
	scrap   [64]byte
}

// looks is how many tries to read an empty pipe there are to one look at its
// socket, which is a system call: who polls needs none.
const looks = 32

// PipeBytes is what a segment for a pipe has for its users.
const PipeBytes = 2 * ringAll

// NewPipe puts a pipe over a socket, through a segment of PipeBytes whose other user is the
// far end. first: this end made the segment. The pipe owns both.
func NewPipe(s *Socket, seg *Segment, first bool) (*Pipe, error) {
	if len(seg.Bytes()) != PipeBytes {
		return nil, fmt.Errorf("transport: a segment of %d bytes for a pipe, want %d", len(seg.Bytes()), PipeBytes)
	}
	p := &Pipe{Socket: s, seg: seg, in: newRing(seg, 0), out: newRing(seg, ringAll)}
	if first {
		p.in, p.out = p.out, p.in
	}
	return p, nil
}

// TurnIn reads from memory from here on.
func (p *Pipe) TurnIn() { p.turned[0] = true }

// TurnOut writes to memory from here on.
func (p *Pipe) TurnOut() { p.turned[1] = true }

// Turned says which directions go through memory.
func (p *Pipe) Turned() (in, out bool) { return p.turned[0], p.turned[1] }

// Hide closes the way into the segment, when the far end has opened it.
func (p *Pipe) Hide() { p.seg.Hide() }

// Read is Socket.Read.
func (p *Pipe) Read(b []byte) (int, error) {
	if !p.turned[0] {
		return p.Socket.Read(b)
	}
	n, err := p.in.take(b)
	if n > 0 || err != nil || len(b) == 0 {
		if n > 0 && answers(p.in.crowded) {
			p.ring()
		}
		return n, err
	}
	if p.tries++; !p.called && p.tries%looks != 0 {
		return 0, ErrAgain
	}
	_, err = p.Socket.Read(p.scrap[:])
	if p.called = err == nil; p.called { // there may be more
		err = ErrAgain
	}
	if n, broken := p.in.take(b); n > 0 || broken != nil {
		return n, broken // it came before the end, or before the call
	}
	return 0, err
}

// Write is Socket.Write.
func (p *Pipe) Write(a, b []byte) (int, error) {
	if !p.turned[1] {
		return p.Socket.Write(a, b)
	}
	n, err := p.out.put(a)
	if err == nil && n == len(a) {
		var more int
		more, err = p.out.put(b)
		n += more
	}
	if n > 0 && answers(p.out.hungry) {
		p.ring()
	}
	if n == 0 && err == nil && len(a)+len(b) > 0 {
		err = ErrAgain
	}
	return n, err
}

// ring calls the far end. Before this end has turned, its frames are on the socket, and the
// turn will call.
func (p *Pipe) ring() {
	if p.turned[1] {
		_, _ = p.Socket.Write(p.scrap[:1], nil) // no room: there are calls enough; an end is seen by Read
	}
}

// Pending says that there is something to read in memory.
func (p *Pipe) Pending() bool { return p.turned[0] && !p.in.empty() }

// Room says that there is room to write in memory.
func (p *Pipe) Room() bool { return p.turned[1] && !p.out.full() }

// Arm asks to be called through the socket when there is something to read, or room to
// write. True: there is already.
func (p *Pipe) Arm(read, write bool) bool {
	if read && p.turned[0] {
		p.in.hungry.Store(1)
	}
	if write && p.turned[1] {
		p.out.crowded.Store(1)
	}
	return read && p.Pending() || write && p.Room()
}

// Disarm takes that back.
func (p *Pipe) Disarm() {
	if p.turned[0] {
		p.in.hungry.Store(0)
	}
	if p.turned[1] {
		p.out.crowded.Store(0)
	}
}

// Call says that the socket has something to read.
func (p *Pipe) Call() { p.called = true }

// Close ends the connection, and gives the memory back: whoever comes later finds the closed
// socket.
func (p *Pipe) Close() error {
	p.turned = [2]bool{}
	return errors.Join(p.Socket.Close(), p.seg.Close())
}
