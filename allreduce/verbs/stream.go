// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// ErrAgain means that there is nothing to read, or no room to write, at present.
var ErrAgain = errors.New("verbs: would block")

const (
	smallMessage = 4<<10 + 256                   // 4 KiB and a header; longer messages are written into the window
	bounceSize   = 512 << 10                     // size of the ring for copied data in transit
	directLeast  = 16 << 10                      // least size of data that is sent without a copy
	dataSlots    = 32                            // messages with data in transit in one direction
	creditSlots  = 16                            // receives for credits, of which at most 8 are in transit
	ownWorks     = creditSlots/2 + 2*windowSlots // requests without data: credits, and operations on the window
	sendWorks    = dataSlots + creditSlots/2 + ownWorks
	inlineWanted = 256 // requested limit of inline sends in bytes
	pollAtOnce   = 16  // completions per poll

	noteCredit = 1 << 31 // an immediate value: the message is a credit
)

// creditSize is the length of a credit message, little-endian: the total numbers of receives
// and of slots of the window that the other end may use, counted from the start. 8 bytes each.
const creditSize = 16

// Stream is a stream of bytes in each direction over a queue pair. Only Accept blocks:
//
//	offer := s.Offer()          // to the other end, which does likewise
//	err := s.Accept(theirs)     // then tell the other end, which may write from then on
//	n, err := s.Read(b)         // ErrAgain: nothing to read
//	n, err := s.Write(head, data)
//
// An idle owner calls Arm and waits for FD.
type Stream struct {
	domain    *Domain
	queue     Queue
	local     []byte // receive buffers, then the ring of copied data
	region    Region // of local
	key       uint32
	window    window
	bounce    []byte // part of local
	psn       uint32
	peer      offer
	connected bool // Accept has returned
	done      [pollAtOnce]Completion
	err       error // the error of all later calls; nil: none
	closed    bool

	// Receiving.
	messages   [dataSlots]arrival // a ring
	first      int                // index of the oldest message
	count      int                // messages that are not read completely
	at         int                // bytes of the oldest message that are read
	freed      uint64             // number of messages that this end has read
	sentCredit credit             // the last credit that the other end was sent

	// Sending.
	sent      [sendWorks]sending // a ring
	head      int                // index of the next request
	pending   int                // number of pending requests
	used      credit             // receives and window slots of the other end that have been used
	credit    credit             // the last credit from the other end
	copied    int                // bytes copied to the bounce ring since the start
	free      int                // of those, the bytes that are free again
	posted    int                // bytes in transit directly from the caller's memory
	delivered int                // bytes sent directly that have arrived and that Write has not yet returned
	blocked   bool               // the last Write wrote nothing
	Direct    int64              // total bytes sent without a copy
	Bounced   int64              // total bytes copied before sending
	Posted    int64              // total work requests, including credits
}

// arrival is a message that has arrived.
type arrival struct {
	slot   int    // index of its receive buffer; -1: it is in the window
	number uint64 // its number among the messages in the window
	size   int
}

// sending is a pending work request.
type sending struct {
	bounce int // bytes that it uses of the bounce ring
	direct int // bytes that it sends from the caller's memory
}

// credit counts messages in receive buffers and messages in the window.
type credit struct{ slots, windowSlots uint64 }

// NewStream makes a stream. Accept connects it.
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
	c := QueueConfig{Sends: sendWorks, Receives: dataSlots + creditSlots, Inline: inlineWanted}
	if l, works := d.place.Limits, max(c.Sends, c.Receives); l.Works < works || l.Completions < c.Sends+c.Receives {
		return nil, fmt.Errorf("verbs: %s has room for %d work requests and %d completions: want %d and %d", d.place.Device, l.Works, l.Completions, works, c.Sends+c.Receives)
	}
	if d.place.MaxMessage < slotSize {
		return nil, fmt.Errorf("verbs: %s is limited to messages of %d bytes: want %d", d.place.Device, d.place.MaxMessage, slotSize)
	}
	slots := c.Receives * smallMessage
	if s.local, err = NewMemory(slots + bounceSize); err != nil {
		return nil, err
	}
	s.bounce = s.local[slots:]
	if s.region, err = ctx.Register(s.local, AccessLocal); err != nil {
		return nil, d.registerError(len(s.local), err)
	}
	s.key, _ = s.region.Keys()
	if s.queue, err = ctx.Queue(c); err != nil {
		return nil, fmt.Errorf("verbs: %s: cannot make a queue pair: %w", d.place.Device, err)
	}
	// The memory windows are made after the queue pair. When a process is killed, the kernel frees
	// the newest object first, and windows keep their queue pair alive; see Close.
	if err := s.window.init(d, ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Offer returns what the other end needs to connect to this one.
func (s *Stream) Offer() []byte {
	p := s.domain.place
	o := offer{
		queue: s.queue.Number(), psn: s.psn, lid: p.LID, mtu: uint16(p.MTU),
		address: s.window.region.Address(), slotSize: slotSize, keys: s.window.keys, keysChange: s.window.bound(),
		messages: dataSlots, small: smallMessage, gid: p.GID.Addr.As16(),
	}
	return o.appendTo(nil)
}

// Accept connects this end to the one that made the offer, and opens its window. It is the only
// call that blocks: it waits until the device has bound the memory windows.
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
	s.connected = true
	return s.openAll()
}

// post posts a receive buffer for the next small message.
func (s *Stream) post(slot int) error {
	if err := s.queue.Receive(uint64(slot), s.slot(slot), s.key); err != nil {
		return fmt.Errorf("verbs: %s: cannot post a receive: %w", s.domain.place.Device, err)
	}
	return nil
}

func (s *Stream) slot(i int) []byte { return s.local[i*smallMessage:][:smallMessage] }

// progress polls and handles completions.
func (s *Stream) progress() {
	for s.connected && s.err == nil {
		n, err := s.queue.Poll(s.done[:])
		if err != nil {
			s.err = fmt.Errorf("verbs: %s: polling: %w", s.domain.place.Device, err)
			return
		}
		for i := range s.done[:n] {
			if err := s.completed(&s.done[i]); err != nil {
				s.err, s.blocked = err, false
				return
			}
		}
		if n < len(s.done) {
			s.maintainWindow()
			s.giveCredit()
			return
		}
	}
}

// completed handles one completion.
func (s *Stream) completed(c *Completion) error {
	switch {
	case c.Status != Success:
		return &Error{Place: s.domain.place, Op: c.Op, Status: c.Status, Vendor: c.Vendor}
	case c.Op != OpReceive:
		return s.requestDone(c)
	}
	return s.arrived(c)
}

// Arm makes FD readable at the next completion. It reports whether a read, or a write, is already
// possible.
func (s *Stream) Arm(read, write bool) bool {
	if s.closed || !s.connected {
		return false
	}
	if s.err == nil {
		if err := s.queue.Arm(); err != nil {
			s.err = fmt.Errorf("verbs: %s: arming the completion channel: %w", s.domain.place.Device, err)
		}
		s.progress()
	}
	return s.err != nil && (read || write) || read && s.count > 0 || write && !s.blocked
}

// FD returns a descriptor that becomes readable once after Arm, until Silence.
func (s *Stream) FD() int { return s.queue.FD() }

// Silence resets FD to unreadable.
func (s *Stream) Silence() { s.queue.Silence() }

// Break puts the queue pair into the error state, for tests of faults.
func (s *Stream) Break() error { return s.queue.Break() }

// Flushed reports whether no written byte is in transit any more: all have arrived or are lost.
func (s *Stream) Flushed() bool {
	s.progress()
	return s.pending == 0 || s.err != nil || s.closed
}

// Close closes the stream at once and deregisters its memory. It is idempotent.
func (s *Stream) Close() error {
	if s.closed {
		return nil
	}
	s.closed, s.connected = true, false
	// A bound memory window keeps its queue pair alive: Soft-RoCE would wait 50 s for it, in vain.
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
	s.domain.streamClosed(s.Direct, s.Bounced)
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("verbs: %s: closing a stream: %w", s.domain.place.Device, err)
	}
	return nil
}
