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
	smallMessage = 4 << 10   // what is longer is written into the window
	windowSize   = 512 << 10 // of what is on its way to this end
	pieceSize    = 64 << 10  // of a long message: several are on their way
	leastPiece   = 16 << 10  // no shorter one while the window is just short of room
	directLeast  = 16 << 10  // from where registered memory is sent without a copy
	dataSlots    = 32        // messages with data on their way to one end
	creditSlots  = 16        // and of credits, of which 8 are the most
	sendWorks    = dataSlots + creditSlots
	inlineWish   = 256
	pollAtOnce   = 16

	noteCredit = 1 << 31 // of an immediate: the message is a credit
)

// creditSize is a message that gives credit, little-endian: how many slots, and how many
// bytes of the window, the other end may use again, counted from the start. 8 bytes each.
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
	window []byte // a ring, into which the other end writes
	mine   [2]Region
	key    uint32 // of local
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
	edge  int    // where in the window the next message begins
	freed credit // what this end has read
	told  credit // of that, what the other end knows

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
	fetched []uint64           // answers to FetchAdd
	stuck   bool               // nothing could be written
	Direct  int64              // bytes sent from where they were
	Bounced int64              // bytes copied to be sent
	Posted  int64              // work requests, also those of credits
}

// arrival is a message that has come.
type arrival struct {
	slot   int // -1: it is in the window
	lo, hi int
}

// sending is a work request that has not completed.
type sending struct {
	bounce int    // its bytes of the bounce ring
	direct int    // or of the caller's
	fetch  []byte // where the answer to a FetchAdd comes
}

// credit counts messages and bytes of the window.
type credit struct{ slots, bytes uint64 }

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
	if l := d.place.Limits; l.Works < c.Receives || l.Completions < c.Sends+c.Receives {
		return nil, fmt.Errorf("verbs: %s holds %d work requests and %d completions, want %d and %d", d.place.Device, l.Works, l.Completions, c.Receives, c.Sends+c.Receives)
	}
	if d.place.MaxMessage < pieceSize {
		return nil, fmt.Errorf("verbs: %s takes messages of %d bytes, want %d", d.place.Device, d.place.MaxMessage, pieceSize)
	}
	slots := c.Receives * smallMessage
	if s.local, err = NewMemory(slots + windowSize); err != nil {
		return nil, err
	}
	s.bounce = s.local[slots:]
	if s.window, err = NewMemory(windowSize); err != nil {
		return nil, err
	}
	for i, mem := range [2][]byte{s.local, s.window} {
		if s.mine[i], err = ctx.Register(mem, i == 1); err != nil {
			return nil, d.refused(len(mem), err)
		}
	}
	s.key, _ = s.mine[0].Keys()
	if s.queue, err = ctx.Queue(c); err != nil {
		return nil, fmt.Errorf("verbs: %s: cannot make a queue pair: %w", d.place.Device, err)
	}
	return s, nil
}

// Offer tells how to reach this end.
func (s *Stream) Offer() []byte {
	p := s.domain.place
	_, key := s.mine[1].Keys()
	o := offer{
		queue: s.queue.Number(), psn: s.psn, lid: p.LID, mtu: uint16(p.MTU),
		key: key, address: s.mine[1].Address(), window: windowSize,
		slots: dataSlots, small: smallMessage, gid: p.GID.Addr.As16(),
	}
	return o.appendTo(nil)
}

// Accept connects this end to the one that made the offer.
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
	return nil
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
	var errs []error
	if s.queue != nil {
		errs = append(errs, s.queue.Close())
	}
	for _, r := range s.mine {
		if r != nil {
			errs = append(errs, r.Close())
		}
	}
	for _, mem := range [2][]byte{s.local, s.window} {
		if mem != nil {
			errs = append(errs, FreeMemory(mem))
		}
	}
	s.local, s.window, s.bounce = nil, nil, nil
	s.domain.left(s.Direct, s.Bounced)
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("verbs: %s: closing a stream: %w", s.domain.place.Device, err)
	}
	return nil
}
