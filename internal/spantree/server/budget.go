// SPDX-License-Identifier: Apache-2.0

package server

import (
	"sync"
)

// MaxMemory limits an estimate: received and queued bytes, plus these bytes for each object.
const (
	// connBytes is a connection: a goroutine with its stack, and the kernel's and the poller's
	// data.
	connBytes = 16 << 10
	// tlsBytes is the state of TLS.
	tlsBytes = 16 << 10

	// messageBytes is a queued message.
	messageBytes = 64
	// The memory of a connection includes a few small messages, so that it can be sent a refusal
	// while memory is full.
	smallMessages = 8
	smallMessage  = 512
)

// newcomersShare is the fraction of MaxMemory that jobs and members leave to connections that have
// not registered. They can thus be refused with a reason when memory is full.
const newcomersShare = 32

// budget counts the memory that clients occupy. It allocates nothing. It is safe for concurrent
// use.
type budget struct {
	limit int64

	mu   sync.Mutex
	used int64 // by connections, their queues, and frames that are being read
	kept int64 // by jobs and finished runs
}

// Take reserves n bytes if at least spare bytes then remain. It reports whether it has.
func (b *budget) Take(n, spare int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.take(n, spare)
}

// newcomers returns the part of the new connections' share that is still free, with this many of
// them.
func (b *budget) newcomers(waiting int) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, b.limit/newcomersShare-int64(waiting)*connBytes)
}

// take is Take for callers that hold the lock.
func (b *budget) take(n, spare int64) bool {
	if b.used+b.kept+n+spare > b.limit {
		return false
	}
	b.used += n
	return true
}

// Give returns n bytes that Take has reserved.
func (b *budget) Give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
}

// addKept adds n bytes to the memory of jobs and runs.
func (b *budget) addKept(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept += n
}

// setKept sets the memory of jobs and runs.
func (b *budget) setKept(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = n
}

// message is a sequence of bytes that waits to be sent to one or more clients. It is counted once.
type message struct {
	b     []byte
	small bool // it is not counted: the memory of the connection includes it
	refs  int  // connections that have queued it; guarded by the budget's lock
}

// size returns the memory that a message is counted with, in bytes.
func (p *message) size() int64 { return int64(len(p.b)) + messageBytes }

// retain adds a use of a message. It returns false if there is no memory.
func (b *budget) retain(p *message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.refs == 0 && !p.small && !b.take(p.size(), 0) {
		return false
	}
	p.refs++
	return true
}

// release ends a use of each message. Nil messages are ignored.
func (b *budget) release(all ...*message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range all {
		if p == nil {
			continue
		}
		if p.refs--; p.refs == 0 && !p.small {
			b.used -= p.size()
		}
	}
}
