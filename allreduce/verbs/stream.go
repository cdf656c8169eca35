// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// ErrAgain says that there is nothing to read, or no room to write, now.
var ErrAgain = errors.New("verbs: not now")

const (
	smallMessage = 4<<10 + 256             // 4 KiB and what stands before them; what is longer is written into the window
	bounceSize   = 512 << 10               // of what is copied to be sent, and on its way
	directLeast  = 16 << 10                // from where registered memory is sent without a copy
	dataSlots    = 32                      // messages with data on their way to one end
	creditSlots  = 16                      // and of credits, of which 8 are the most
	ownWorks     = creditSlots/2 + 2*panes // requests that carry no data: credits, and what tends the window
	sendWorks    = dataSlots + creditSlots/2 + ownWorks
	inlineWish   = 256
	pollAtOnce   = 16

	noteCredit = 1 << 31 // of an immediate: the message is a credit
)

// creditSize is a message that gives credit, little-endian: how many slots, and how many
// panes of the window, the other end may use again, counted from the start. 8 bytes each.
const creditSize = 16

// Stream is a sequence of bytes each way over a queue pair. Nothing it does waits:
//
//	offer := s.Offer()          // to the other end, which does likewise
//	err := s.Accept(theirs)     // then tell it: from there on it may write
//	n, err := s.Read(b)         // ErrAgain: there is nothing
//	n, err := s.Write(head, data)
//
// Who has nothing to do arms it and waits for FD.
type Stream struct {
	domain *Domain
	queue  Queue
	local  []byte // slots, then the ring of what is copied to be sent
	region Region // of local
	key    uint32
	window window
	bounce []byte // part of local
	psn    uint32
	peer   offer
	linked bool // Accept has been
	done   [pollAtOnce]Completion
	err    error
	closed bool

	// What comes.
	came  [dataSlots]arrival // a ring
	first int                // of it
	count int
	at    int    // how much of the first is read
	freed uint64 // messages that this end has read
	told  credit // what the other end knows of that, and of the window

	// What goes.
	sent    [sendWorks]sending // a ring
	head    int                // where the next one is kept
	flying  int                // how many there are
	used    credit             // of the other end's slots and window
	given   credit             // how much of them may be used again
	copied  int                // bytes put into the bounce ring since the start
	free    int                // of those, how many are free again
	posted  int                // bytes of the caller's that are on their way from where they are
	landed  int                // bytes of them that have arrived, and Write has not told
	stuck   bool               // nothing could be written
	Direct  int64              // bytes sent from where they were
	Bounced int64              // bytes copied to be sent
	Posted  int64              // work requests, also those of credits
}

// arrival is a message that has come.
type arrival struct {
	slot   int    // -1: it is in the window
	number uint64 // which message of the window it is
	size   int
}

// sending is a work request that has not completed.
type sending struct {
	bounce int // its bytes of the bounce ring
	direct int // or of the caller's
}

// credit counts messages, and those of them that go through the window.
type credit struct{ slots, panes uint64 }

// NewStream makes a stream. The other end is connected by Accept.
func (d *Domain) NewStream() (_ *Stream, err error) {
	ctx, err := d.open()
	if err != nil {
		return nil, err
	}
	s := &Stream{domain: d, psn: rand.Uint32() & (1<<24 - 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	c := QueueConfig{Sends: sendWorks, Receives: dataSlots + creditSlots, Inline: inlineWish}
	if l, works := d.place.Limits, max(c.Sends, c.Receives); l.Works < works || l.Completions < c.Sends+c.Receives {
		return nil, fmt.Errorf("verbs: %s holds %d work requests and %d completions, want %d and %d", d.place.Device, l.Works, l.Completions, works, c.Sends+c.Receives)
	}
	if d.place.MaxMessage < paneSize {
		return nil, fmt.Errorf("verbs: %s takes messages of %d bytes, want %d", d.place.Device, d.place.MaxMessage, paneSize)
	}
	slots := c.Receives * smallMessage
	if s.local, err = NewMemory(slots + bounceSize); err != nil {
		return nil, err
	}
	s.bounce = s.local[slots:]
	if s.region, err = ctx.Register(s.local, AccessLocal); err != nil {
		return nil, d.refused(len(s.local), err)
	}
	s.key, _ = s.region.Keys()
	if s.queue, err = ctx.Queue(c); err != nil {
		return nil, fmt.Errorf("verbs: %s: cannot make a queue pair: %w", d.place.Device, err)
	}
	// The memory windows come after the queue pair: of a process that is killed the kernel ends the
	// newest first, and they hold it; see Close.
	if err := s.window.init(d, ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Offer tells how to reach this end.
func (s *Stream) Offer() []byte {
	p := s.domain.place
	o := offer{
		queue: s.queue.Number(), psn: s.psn, lid: p.LID, mtu: uint16(p.MTU),
		address: s.window.region.Address(), pane: paneSize, keys: s.window.keys, turns: s.window.bound(),
		slots: dataSlots, small: smallMessage, gid: p.GID.Addr.As16(),
	}
	return o.appendTo(nil)
}

// Accept connects this end to the one that made the offer, and opens its window. It is the only
// call that waits: for the device, which is to bind memory windows.
func (s *Stream) Accept(theirs []byte) (err error) {
	if s.peer, err = decodeOffer(theirs); err != nil {
		return err
	}
	for slot := range dataSlots + creditSlots {
		if err := s.post(slot); err != nil {
			return err
		}
	}
	mtu := min(s.domain.place.MTU, int(s.peer.mtu))
	if err := s.queue.Connect(Peer{Queue: s.peer.queue, PSN: s.peer.psn, LID: s.peer.lid, GID: s.peer.gid, MTU: mtu}, s.psn); err != nil {
		return fmt.Errorf("verbs: %v: cannot connect the queue pair: %w", s.domain.place, err)
	}
	s.linked = true
	return s.openAll()
}

// post gives a slot to the device, for the next small message.
func (s *Stream) post(slot int) error {
	if err := s.queue.Receive(uint64(slot), s.slot(slot), s.key); err != nil {
		return fmt.Errorf("verbs: %s: cannot post a receive: %w", s.domain.place.Device, err)
	}
	return nil
}

func (s *Stream) slot(i int) []byte { return s.local[i*smallMessage:][:smallMessage] }

// progress takes what has completed.
func (s *Stream) progress() {
	for s.linked && s.err == nil {
		n, err := s.queue.Poll(s.done[:])
		if err != nil {
			s.err = fmt.Errorf("verbs: %s: polling: %w", s.domain.place.Device, err)
			return
		}
		for i := range s.done[:n] {
			if err := s.completed(&s.done[i]); err != nil {
				s.err, s.stuck = err, false
				return
			}
		}
		if n < len(s.done) {
			s.tend()
			s.giveCredit()
			return
		}
	}
}

// completed follows one completion.
func (s *Stream) completed(c *Completion) error {
	switch {
	case c.Status != Success:
		return &Error{Place: s.domain.place, Op: c.Op, Status: c.Status, Vendor: c.Vendor}
	case c.Op != OpReceive:
		return s.gone(c)
	}
	return s.arrived(c)
}

// Arm makes FD readable with whatever comes next. True: there is something already
// for who wants to read, or to write.
func (s *Stream) Arm(read, write bool) bool {
	if s.closed || !s.linked {
		return false
	}
	if s.err == nil {
		if err := s.queue.Arm(); err != nil {
			s.err = fmt.Errorf("verbs: %s: arming the completion channel: %w", s.domain.place.Device, err)
		}
		s.progress()
	}
	return s.err != nil && (read || write) || read && s.count > 0 || write && !s.stuck
}

// FD is readable once after Arm; then Silence makes it unreadable.
func (s *Stream) FD() int { return s.queue.FD() }

// Silence makes FD unreadable.
func (s *Stream) Silence() { s.queue.Silence() }

// Break takes the stream out of service, for tests of faults.
func (s *Stream) Break() error { return s.queue.Break() }

// Flushed says that all that was written has arrived, or never will.
func (s *Stream) Flushed() bool {
	s.progress()
	return s.flying == 0 || s.err != nil || s.closed
}

// Close ends the stream, at once, and deregisters its memory. It may be called again.
func (s *Stream) Close() error {
	if s.closed {
		return nil
	}
	s.closed, s.linked = true, false
	// A memory window holds its queue pair, which waits for that: Soft-RoCE 50 s, and then in vain.
	errs := []error{s.window.closeBinds()}
	if s.queue != nil {
		errs = append(errs, s.queue.Close())
	}
	errs = append(errs, s.window.close())
	if s.region != nil {
		errs = append(errs, s.region.Close())
	}
	if s.local != nil {
		errs = append(errs, FreeMemory(s.local))
	}
	s.local, s.bounce = nil, nil
	s.domain.left(s.Direct, s.Bounced)
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("verbs: %s: closing a stream: %w", s.domain.place.Device, err)
	}
	return nil
}
