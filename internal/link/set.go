// SPDX-License-Identifier: Apache-2.0

package link

import (
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
)

// Set is all links of one owner, such as the engine of an epoch. They share a lock and a driver,
// and they fail together.
type Set struct {
	Rank   int
	Stream bool // the links carry vw's stream, without frames
	NoSum  bool // frames have no checksums
	Log    *slog.Logger
	Driver Driver
	Owner  Owner
	Failed chan struct{} // closed with the first failure

	// Mu protects what follows, the state of the links, and the owner's state about them.
	Mu     sync.Mutex
	Open   []*Link // in the order in which they opened
	Ending bool    // links may end from now on
	flip   bool    // injected fault: a bit of the next chunk flips

	down  atomic.Bool           // Failed is closed
	muted atomic.Bool           // injected fault: no byte goes over the links any more
	verbs atomic.Pointer[Verbs] // nil: the links stay with TCP
}

// Owner is the owner of a set.
type Owner interface {
	// LinkFailed reports the failure of a link: a *BrokenError, a *CorruptError, an *UpgradeError,
	// or an error of the link's handler.
	LinkFailed(l *Link, err error)
	// Announce asks the owner to make a call frame due on all links whose peer has not got it: the
	// work under way takes long.
	Announce()
}

// Stopped reports whether the set has failed or its links may end. It is called under the lock.
func (s *Set) Stopped() bool { return s.down.Load() || s.Ending }

// Over is Stopped for callers without the lock.
func (s *Set) Over() bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Stopped()
}

// Down reports whether the set has failed.
func (s *Set) Down() bool { return s.down.Load() }

// Attach opens a link to a peer, under the lock.
func (s *Set) Attach(l *Link, p Peer) error {
	l.open(s, p)
	h, err := s.Driver.Attach(l)
	if err != nil {
		l.Index = -1
		return err
	}
	l.handle = h
	s.Open = append(s.Open, l)
	return nil
}

// Wake wakes the driver on all links, under the lock.
func (s *Set) Wake() {
	for _, l := range s.Open {
		l.handle.Wake()
	}
}

// Seal fails the set, under the lock. last is the payload of a fault frame, which becomes the last
// frame of every link but from; nil: no link gets one.
func (s *Set) Seal(last []byte, from *Link) {
	s.down.Store(true)
	close(s.Failed)
	for _, l := range s.Open {
		if l != from {
			l.last = last
		}
		l.handle.Wake()
	}
	s.Driver.Wake() // there may be no open link
}

// AppendOpen appends the open links to dst.
func (s *Set) AppendOpen(dst []*Link) []*Link {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return append(dst, s.Open...)
}

// Upgrade begins to upgrade all links to verbs streams, those that open later included. Links
// between ranks that share memory stay.
func (s *Set) Upgrade(v Verbs) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.verbs.Store(&v)
	for _, l := range s.Open {
		l.news.Store(true)
		l.handle.Wake()
	}
	s.Driver.Attend()
}

// Mute injects a fault: no byte goes over the links any more, but they stay open.
func (s *Set) Mute() { s.muted.Store(true) }

// FlipNext injects a fault: one bit of the next chunk that any link writes is flipped.
func (s *Set) FlipNext() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.flip = true
}

// flipped returns a copy of data with one flipped bit.
func flipped(data []byte) []byte {
	data = slices.Clone(data)
	data[len(data)/2] ^= 1
	return data
}
