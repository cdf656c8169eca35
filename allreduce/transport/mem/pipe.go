// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"errors"
	"io"
	"sync"
	"syscall"
)

// errAgain means that a pipe has nothing to read, or no room, at the moment.
var errAgain = errors.New("mem: try again")

// pipe is one direction of a connection. Its methods never block: they return
// errAgain, and a token in readable or writable means that a retry may succeed.
// A token may be stale, so a waiter always retries.
type pipe struct {
	readable, writable chan struct{} // capacity 1

	mu    sync.Mutex
	ring  [buffer]byte
	start int   // index of the first unread byte
	n     int   // number of unread bytes
	eof   bool  // the writer closed its end
	err   error // the pipe is broken
	held  bool  // bytes do not move
}

func newPipe() *pipe {
	return &pipe{readable: make(chan struct{}, 1), writable: make(chan struct{}, 1)}
}

func wake(token chan struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

func (p *pipe) read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.err != nil:
		wake(p.readable) // for other readers
		return 0, p.err
	case p.held:
		return 0, errAgain
	case p.n == 0 && p.eof:
		wake(p.readable)
		return 0, io.EOF
	case len(b) == 0:
		return 0, nil
	case p.n == 0:
		return 0, errAgain
	}
	n := copy(b, p.ring[p.start:min(p.start+p.n, buffer)])
	if n < len(b) && n < p.n {
		n += copy(b[n:], p.ring[:p.n-n])
	}
	p.start = (p.start + n) % buffer
	p.n -= n
	if p.n > 0 {
		wake(p.readable)
	}
	wake(p.writable)
	return n, nil
}

// write writes the bytes that fit. errAgain: not all of b did.
func (p *pipe) write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		wake(p.writable)
		return 0, p.err
	}
	if p.eof {
		return 0, syscall.EPIPE
	}
	done := 0
	for done < len(b) && p.n < buffer {
		end := (p.start + p.n) % buffer
		room := buffer - end
		if end < p.start {
			room = p.start - end
		}
		n := copy(p.ring[end:end+room], b[done:])
		p.n += n
		done += n
	}
	if done > 0 {
		wake(p.readable)
	}
	if done < len(b) {
		return done, errAgain
	}
	if p.n < buffer {
		wake(p.writable)
	}
	return done, nil
}

// close ends the stream after the unread bytes.
func (p *pipe) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.eof = true
	wake(p.readable)
	wake(p.writable)
}

// abort breaks the pipe. Reads and writes fail with err, and the unread bytes are
// lost; it returns their number. The first error is kept.
func (p *pipe) abort(err error) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	lost := p.n
	p.n = 0
	if p.err == nil && !(p.eof && lost == 0) {
		p.err = err
	}
	wake(p.readable)
	wake(p.writable)
	return lost
}

func (p *pipe) hold(held bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = held
	if !held {
		wake(p.readable)
		wake(p.writable)
	}
}
