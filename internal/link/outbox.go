// SPDX-License-Identifier: Apache-2.0

package link

import (
	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/internal/invariant"
	"github.com/gvw-project/gvw/internal/link/upgrade"
)

// Outbox is what a link writes: frames, then data from the owner's memory.
type Outbox struct {
	Head    []byte
	Data    []byte
	Part    bool            // Data is a chunk
	Message upgrade.Message // Head is a message of an upgrade; 0: it is not
	ring    bool            // of the upgrade to a ring, not to verbs
}

// Outbox returns what the last Compose has composed.
func (l *Link) Outbox() *Outbox { return &l.outbox }

// Compose puts the next bytes to write into the outbox. ok false: there are none now. over: there will
// never be more.
func (l *Link) Compose() (ok, over bool) {
	o, s := &l.outbox, l.set
	unwritten := o.Part || o.Message != 0
	*o = Outbox{Head: o.Head[:0]}
	s.Mu.Lock()
	if invariant.Enabled {
		invariant.Check(!unwritten || l.broken, "link: a chunk for %s was not written, and another one is composed", RankAt(l.Rank, l.Host))
	}
	if s.muted.Load() {
		defer s.Mu.Unlock()
		l.resting = true
		return false, s.Stopped()
	}
	if l.closed || l.last == nil && s.Stopped() {
		s.Mu.Unlock()
		return false, true
	}
	if l.last != nil {
		l.closed = true
		s.Mu.Unlock()
		o.Head = l.Tags.AppendFrame(o.Head, FrameFault, l.last)
		return true, false
	}
	if l.composeRing() || l.composeVerbs() {
		s.Mu.Unlock()
		return true, false
	}
	c, ok := Chunk{}, false
	if !l.broken {
		c, ok = l.Handler.Next()
	}
	if !ok {
		defer s.Mu.Unlock()
		return l.composeSign(), false
	}
	o.Part, o.Data = true, c.Data
	flip := s.flip && len(c.Data) > 0
	s.flip = s.flip && !flip
	s.Mu.Unlock()
	if !s.Stream {
		l.composeHead(&c)
	}
	if flip {
		o.Data = flipped(o.Data)
	}
	return true, false
}

// composeHead appends the headers of a chunk: that of its call, where it is due, and its own.
func (l *Link) composeHead(c *Chunk) {
	o, s := &l.outbox, l.set
	if c.Call != nil {
		o.Head = l.Tags.AppendFrame(o.Head, FrameCall, c.Call)
	}
	if l.Tags.Out != nil {
		o.Head = l.Tags.AppendTagged(o.Head, FrameData, c.Data)
		return
	}
	f := Frame{Kind: FrameData, Length: uint32(len(c.Data))}
	if !s.NoSum {
		f.Flags, f.Sum = FlagSum, c.Sum
		if !c.Summed {
			f.Sum = crc32c.Checksum(c.Data)
			l.Handler.Summed(f.Sum)
		}
	}
	o.Head = f.Append(o.Head)
}

// composeSign appends a frame without data, if one is due. It is called under the lock.
func (l *Link) composeSign() bool {
	if !l.broken {
		if kind, payload := l.Handler.Sign(); kind != 0 {
			l.outbox.Head = l.Tags.AppendFrame(l.outbox.Head, kind, payload)
			return true
		}
	}
	l.resting = true
	return false
}

// Wrote notes that the whole outbox has been written. The data's memory is the owner's again.
func (l *Link) Wrote() {
	o := &l.outbox
	part, msg, ring := o.Part, o.Message, o.ring
	o.Part, o.Message, o.Data = false, 0, nil
	switch {
	case part:
		l.Handler.Written()
	case msg != 0:
		l.wroteUpgrade(msg, ring)
	}
}
