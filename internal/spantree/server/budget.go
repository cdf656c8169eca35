// SPDX-License-Identifier: Apache-2.0

package server

import (
	"sync"
)

// What things count for in MaxMemory, beside the bytes that clients have sent or are sent.
const (
	// connBytes is a connection: its goroutine, its stacks, what the system call and the
	// poller keep.
	connBytes = 16 << 10
	// tlsBytes is what TLS adds to it.
	tlsBytes = 16 << 10

	// parcelBytes is what is queued, beside its bytes.
	messageBytes = 64
	// A connection's own bytes have room for a few short parcels, so that it can be told
	// something while memory is full.
	smallMessages = 8
	smallMessage  = 512
)

// newcomersShare is which part of MaxMemory jobs and members leave to connections that have
// not said yet what they want: so who comes when memory is full is told so.
const newcomersShare = 32

// budget is the memory that clients may take. It counts; it does not allocate.
type budget struct {
	limit int64

	mu   sync.Mutex
	used int64 // by connections, what is queued for them, and frames that are being read
	kept int64 // by jobs and runs that have finished
}

// Take takes n bytes, if that leaves as many free as are spare.
func (b *budget) Take(n, spare int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.take(n, spare)
}

// newcomers is what is left of their part while so many have connected.
func (b *budget) newcomers(waiting int) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, b.limit/newcomersShare-int64(waiting)*connBytes)
}

func (b *budget) take(n, spare int64) bool {
	if b.used+b.kept+n+spare > b.limit {
		return false
	}
	b.used += n
	return true
}

// Give returns n bytes that Take took.
func (b *budget) Give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
}

// keep adds n bytes to what is kept.
func (b *budget) addKept(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept += n
}

// keeps sets what is kept.
func (b *budget) setKept(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = n
}

// parcel is bytes that wait to be sent, to one client or to many. They count once.
type message struct {
	b     []byte
	small bool // it counts for nothing: it has room in what the connection counts for
	refs  int  // how many wait for it; under the budget's lock
}

func (p *message) size() int64 { return int64(len(p.b)) + messageBytes }

// hold begins a use of a parcel, if there is room.
func (b *budget) retain(p *message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.refs == 0 && !p.small && !b.take(p.size(), 0) {
		return false
	}
	p.refs++
	return true
}

// release ends a use of parcels; nil ones are nobody's.
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
