// SPDX-License-Identifier: Apache-2.0

package link

import (
	"slices"

	"github.com/gvw-project/gvw/internal/link/upgrade"
)

// Links are upgraded in two ways, with the same protocol (package upgrade).
//
// Between two ranks that share memory, the bytes of collectives that do not go through the segment
// use a shared-memory ring. The lower rank makes it. The payload of its ring offer is where the
// ring is. A ring switch is a switch (first byte 1) or a refusal (0). After a switch the
// connection carries only wake-up bytes, of any value, and frames have checksums.
//
// Between two machines, bytes use verbs streams if all ranks have a device. In an upgrade frame the
// first byte is the message. The payload of an offer follows. After the switch the
// connection carries nothing, and its end shows that the peer is gone.

// composeRing appends the next message of the upgrade to a ring. It is called under the lock.
func (l *Link) composeRing() bool {
	m, h := &l.Ring, l.Handler
	if !m.Due() && m.WantsOffer() && h.SharesMemory() && h.InUse() {
		if c := l.handle.Ring(); c != nil {
			offer, err := c.Offer()
			if err != nil {
				l.set.Log.Warn("no shared memory for the edge, TCP instead", "rank", l.set.Rank, "to", l.Rank, "error", err)
				m.Stay()
				return false
			}
			l.ringOffer = offer
			m.Made()
		}
	}
	msg, ok := m.Next()
	if !ok {
		return false
	}
	o := &l.outbox
	switch o.Message, o.ring = msg, true; msg {
	case upgrade.Offer:
		o.Head = l.Tags.AppendFrame(o.Head, FrameRingOffer, l.ringOffer)
	case upgrade.Switch:
		o.Head = l.Tags.AppendFrame(o.Head, FrameRingSwitch, []byte{1, 0, 0, 0})
	default:
		o.Head = l.Tags.AppendFrame(o.Head, FrameRingSwitch, []byte{0, 0, 0, 0})
	}
	return true
}

// composeVerbs appends the next message of the upgrade to verbs. It is called under the lock.
func (l *Link) composeVerbs() bool {
	msg, ok := l.Verbs.Next()
	if !ok {
		return false
	}
	body := []byte{byte(msg)}
	if msg == upgrade.Offer {
		body = append(body, l.Stream.Offer()...)
	}
	l.outbox.Head = l.Tags.AppendFrame(l.outbox.Head, FrameUpgrade, body)
	l.outbox.Message = msg
	return true
}

// wroteUpgrade follows a message that has left this rank.
func (l *Link) wroteUpgrade(msg upgrade.Message, ring bool) {
	l.set.Mu.Lock()
	defer l.set.Mu.Unlock()
	if !ring {
		l.Verbs.Written(msg)
		return
	}
	if l.Ring.Written(msg); msg == upgrade.Switch {
		l.handle.Ring().SwitchOut()
		l.Tags.Out = nil
	}
}

// receiveUpgrade takes an upgrade frame of the peer.
func (l *Link) receiveUpgrade(kind byte, body []byte) error {
	l.set.Mu.Lock()
	defer l.set.Mu.Unlock()
	switch kind {
	case FrameRingOffer:
		if len(body) != MaxRingOffer {
			return Corrupt("an offer of shared memory has %d bytes, want %d", len(body), MaxRingOffer)
		}
		return l.receiveRing(upgrade.Offer, body)
	case FrameRingSwitch:
		if len(body) == MaxRingSwitch && body[0] == 1 {
			return l.receiveRing(upgrade.Switch, nil)
		}
		return l.receiveRing(upgrade.Refuse, nil)
	}
	if len(body) == 0 {
		return Corrupt("an upgrade frame is empty")
	}
	return l.receiveVerbs(upgrade.Message(body[0]), body[1:])
}

// receiveRing takes a message of the upgrade to a ring. It is called under the lock.
func (l *Link) receiveRing(msg upgrade.Message, offer []byte) error {
	if err := l.Ring.Receive(msg); err != nil {
		return &CorruptError{err}
	}
	switch msg {
	case upgrade.Offer:
		l.acceptRing(offer)
	case upgrade.Switch:
		l.inbox.ahead = nil // bytes that follow on the connection are wake-ups
		l.handle.Ring().SwitchIn()
		l.Tags.In = nil
	}
	l.handle.Wake()
	return nil
}

// acceptRing opens the peer's ring, or refuses it. It is called under the lock.
func (l *Link) acceptRing(offer []byte) {
	c := l.handle.Ring()
	if c == nil || l.set.Stopped() {
		l.Ring.Stay()
		return
	}
	if err := c.Accept(offer); err != nil {
		l.set.Log.Warn("no shared memory for the edge, TCP instead", "rank", l.set.Rank, "to", l.Rank, "error", err)
		l.Ring.Stay()
		return
	}
	l.Ring.Accepted()
}

// receiveVerbs takes a message of the upgrade to verbs. It is called under the lock.
func (l *Link) receiveVerbs(msg upgrade.Message, offer []byte) error {
	if err := l.Verbs.Receive(msg); err != nil {
		return &CorruptError{err}
	}
	switch msg {
	case upgrade.Offer:
		l.verbsOffer = slices.Clone(offer)
	case upgrade.Switch:
		if len(l.inbox.ahead) > 0 {
			return Corrupt("%d bytes follow the switch to verbs", len(l.inbox.ahead))
		}
	}
	l.news.Store(true)
	l.handle.Wake()
	return nil
}

// Upgrade does what can be done for the upgrade to verbs. Only the goroutine that reads and writes the
// link calls it, without the lock. It returns an *UpgradeError.
func (l *Link) Upgrade() error {
	if !l.news.Load() {
		return nil
	}
	l.news.Store(false)
	s := l.set
	v := s.verbs.Load()
	s.Mu.Lock()
	stays := v == nil || l.Handler.SharesMemory() // shared memory is faster
	s.Mu.Unlock()
	if stays {
		return nil
	}
	if err := l.upgrade(v); err != nil {
		if v.Required {
			return &UpgradeError{err}
		}
		s.Log.Warn("no verbs to a rank, TCP instead", "rank", s.Rank, "to", l.Rank, "error", err)
		l.change(l.Verbs.Stay)
	}
	return nil
}

// upgrade makes this end's stream, and connects it to the peer's.
func (l *Link) upgrade(v *Verbs) error {
	m := &l.Verbs
	if m.WantsOffer() {
		stream, err := v.Open()
		if err != nil {
			return err
		}
		l.Stream = stream
		l.change(m.Made)
	}
	if m.WantsAccept() {
		if err := l.Stream.Accept(l.verbsOffer); err != nil {
			return err
		}
		l.change(m.Accepted)
	}
	return nil
}

// change applies a step to the upgrade to verbs, and wakes the driver.
func (l *Link) change(step func()) {
	l.set.Mu.Lock()
	defer l.set.Mu.Unlock()
	step()
	l.handle.Wake()
}
