// SPDX-License-Identifier: Apache-2.0

package link

import (
	"sync/atomic"

	"github.com/gvw-project/gvw/internal/link/upgrade"
)

// Link is one ordered, checked and authenticated stream of frames to a peer.
//
// One goroutine at a time reads (Space, Filled, Digest) and one at a time writes (Compose, Wrote).
type Link struct {
	Peer
	Index   int // among the open links of the set, in the order of opening; -1: not open
	Handler Handler

	set    *Set
	handle Handle
	in     atomic.Int64 // bytes read
	out    atomic.Int64 // bytes of chunks written
	inbox  inbox        // of the goroutine that reads
	outbox Outbox       // of the goroutine that writes

	// Under the set's lock.
	broken  bool   // a write failed
	closed  bool   // the last frame is composed
	last    []byte // the payload of a fault frame, which will be the last frame; nil: none is due
	waiting bool   // the reader has no room for what arrives
	resting bool   // the writer has nothing to write

	// The upgrades, changed under the set's lock and by the driver's goroutines only.
	Ring       upgrade.Machine
	Verbs      upgrade.Machine
	Stream     Stream // to which Verbs leads; nil: none yet
	ringOffer  []byte
	verbsOffer []byte // of the peer

	writing atomic.Bool // a frame is being written
	news    atomic.Bool // there may be a step of the upgrade to verbs to do
}

// New returns a link that is not open yet.
func New(p Peer, h Handler) *Link { return &Link{Peer: p, Handler: h, Index: -1} }

func (l *Link) open(s *Set, p Peer) {
	l.Peer, l.set, l.Index = p, s, len(s.Open)
	l.Ring = upgrade.New(upgrade.Opens)
	if l.Rank > s.Rank {
		l.Ring = upgrade.New(upgrade.Offers)
	}
	l.news.Store(true) // a link that opens after Set.Upgrade
}

// IsOpen reports whether the link has opened, under the lock.
func (l *Link) IsOpen() bool { return l.Index >= 0 }

// Counts returns the numbers of bytes read, and of bytes of chunks written.
func (l *Link) Counts() (in, out int64) { return l.in.Load(), l.out.Load() }

// CountIn adds to the bytes read.
func (l *Link) CountIn(n int) { l.in.Add(int64(n)) }

// CountOut adds to the bytes of chunks written. Frames without data are no progress.
func (l *Link) CountOut(n int) { l.out.Add(int64(n)) }

// Writing reports whether a frame is being written.
func (l *Link) Writing() bool { return l.writing.Load() }

// SetWriting notes whether a frame is being written.
func (l *Link) SetWriting(on bool) { l.writing.Store(on) }

// Set returns the set of an open link.
func (l *Link) Set() *Set { return l.set }

// Broken reports whether a write has failed, under the lock.
func (l *Link) Broken() bool { return l.broken }

// Wake wakes the driver on an open link, under the lock.
func (l *Link) Wake() { l.handle.Wake() }

// Hold notes that the reader waits for the handler, under the lock.
func (l *Link) Hold() { l.waiting = true }

// Held reports whether the reader waits for the handler, under the lock.
func (l *Link) Held() bool { return l.waiting }

// Resume reports whether the reader and the writer wait, and notes that they do not wait any more.
// It is called under the lock.
func (l *Link) Resume() (reader, writer bool) {
	reader, writer = l.waiting, l.resting
	l.waiting, l.resting = false, false
	return reader, writer
}

// HasLast reports whether the link has a fault frame as its last frame and can still write.
func (l *Link) HasLast() bool {
	l.set.Mu.Lock()
	defer l.set.Mu.Unlock()
	return l.last != nil && !l.broken
}

// Break notes a failed write. The reader finds the reason: the peer's last frames may still
// be there to read.
func (l *Link) Break() {
	l.set.Mu.Lock()
	defer l.set.Mu.Unlock()
	l.broken = true
	l.handle.Wake()
}

// Fail reports a failure of the link to the set's owner.
func (l *Link) Fail(err error) { l.set.Owner.LinkFailed(l, err) }

// UpgradeDue reports whether Upgrade may have something to do.
func (l *Link) UpgradeDue() bool { return l.news.Load() }
