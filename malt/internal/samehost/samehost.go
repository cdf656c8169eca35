// SPDX-License-Identifier: Apache-2.0

package samehost

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gvw-project/gvw/internal/shm"
	"github.com/gvw-project/gvw/internal/wire"
	"github.com/gvw-project/gvw/malt/internal/carrier"
	"github.com/gvw-project/gvw/malt/internal/mailbox"
)

// Host is what the package needs of the machine.
type Host struct {
	Machine func() (string, error) // the machine's identity
	shm.Segments
}

// System is this machine.
var System = Host{Machine: shm.Machine, Segments: shm.Segments{Make: shm.NewSegment, Open: shm.OpenSegment}}

// Memory is the memory that this rank shares with another one.
type Memory struct {
	host  Host
	hello []byte
}

var _ carrier.Memory = (*Memory)(nil)

// New returns the memory shared with one rank.
func New(h Host) *Memory { return &Memory{host: h} }

// Name returns "shared memory".
func (*Memory) Name() string { return "shared memory" }

// Hello returns a hash of the machine's identity.
func (m *Memory) Hello() ([]byte, error) {
	id, err := m.host.Machine()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte("gvw malt " + id))
	m.hello = sum[:16]
	return m.hello, nil
}

// Meet fails if the other rank is on another machine.
func (m *Memory) Meet(theirs []byte, _ func(error)) error {
	if !bytes.Equal(m.hello, theirs) {
		return errors.New("the rank is on another machine")
	}
	return nil
}

// headBytes is the size of the users' part of a segment, which is not used: mailboxes are in the arena.
const headBytes = 64

// Make makes a segment whose arena has at least size bytes.
func (m *Memory) Make(size int) (carrier.Inbox, []byte, error) {
	seg, err := m.host.Make(headBytes, int64(size))
	if err != nil {
		return nil, nil, err
	}
	if len(seg.Arena()) < size {
		seg.Close()
		return nil, nil, fmt.Errorf("cannot map %d bytes: check the limits of file size and address space (ulimit -f, -v)", size)
	}
	return memory{seg}, appendLocation(nil, seg.Location()), nil
}

// Open opens the segment of the other rank. No update is ever on its way.
func (m *Memory) Open(size, _, _ int, offer []byte) (carrier.Outbox, error) {
	l, err := decodeLocation(offer)
	if err != nil {
		return nil, err
	}
	if l.Bytes != headBytes+shm.SegmentHead || l.Arena < int64(size) {
		return nil, fmt.Errorf("an offer of %d and %d bytes, want %d and at least %d: is it another version of this program?", l.Bytes, l.Arena, headBytes+shm.SegmentHead, size)
	}
	seg, err := m.host.Open(l)
	if err != nil {
		return nil, err
	}
	return &target{Local: mailbox.Local{Memory: memory{seg}}, seg: seg, allocated: map[int]int{}}, nil
}

// Stop does nothing: a rank can write as long as it maps a segment, but no reader looks at it after the epoch.
func (*Memory) Stop() {}

// memory is the arena of a segment.
type memory struct{ seg *shm.Segment }

func (m memory) Bytes() []byte              { return m.seg.Arena() }
func (m memory) Flag(at int) *atomic.Uint64 { return m.seg.ArenaFlag(at) }

// Opened removes the way to the segment, after the sender has opened it.
func (m memory) Opened() { m.seg.Unlink() }

// Close unmaps the segment.
func (m memory) Close() error { return m.seg.Close() }

// target is the sender's end. It allocates memory for updates that are larger than earlier ones.
type target struct {
	mailbox.Local
	seg       *shm.Segment
	allocated map[int]int // by offset of a slot: its bytes that have memory
}

// Begin invalidates a slot and allocates the memory of an update of n bytes.
func (t *target) Begin(at, n int) error {
	if have := t.allocated[at]; n > have {
		if err := t.seg.Allocate(at+have, at+n); err != nil {
			return err
		}
		t.allocated[at] = n
	}
	return t.Local.Begin(at, n)
}

// Close unmaps the segment.
func (t *target) Close() error { return t.seg.Close() }

// Room returns true: a write takes no time on the way.
func (*target) Room() bool { return true }

// Arrived returns true: what is written has arrived.
func (*target) Arrived() bool { return true }

const locationSize = 40

func appendLocation(dst []byte, l shm.Location) []byte {
	c := wire.Encode(dst)
	codeLocation(&c, &l)
	return c.Bytes()
}

func codeLocation(c *wire.Coder, l *shm.Location) {
	c.I32("process", &l.PID)
	c.I32("descriptor", &l.FD)
	c.I64("size", &l.Bytes)
	c.I64("arena", &l.Arena)
	c.Raw("nonce", l.Nonce[:])
}

func decodeLocation(b []byte) (l shm.Location, err error) {
	c := wire.Decode(b)
	if codeLocation(&c, &l); c.End() != nil {
		return shm.Location{}, fmt.Errorf("an offer of %d bytes, want %d: %w", len(b), locationSize, c.Err())
	}
	return l, nil
}
