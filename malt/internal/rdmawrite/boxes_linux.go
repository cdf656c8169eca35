// SPDX-License-Identifier: Apache-2.0

package rdmawrite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/malt/internal/carrier"
)

// offerSize is the size of an offer, little-endian: address u64, key u32, 0 u32.
const offerSize = 16

// Make registers memory that the other rank may write.
func (m *Memory) Make(size int) (carrier.Inbox, []byte, error) {
	if err := m.dev.reserve(size); err != nil {
		return nil, nil, err
	}
	mem, err := verbs.NewMemory(size)
	if err != nil {
		m.dev.made.Add(-int64(size))
		return nil, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.register(mem, verbs.AccessRemote)
	if err != nil {
		m.dev.made.Add(-int64(size))
		_ = verbs.FreeMemory(mem) // the first error counts
		return nil, nil, err
	}
	_, key := r.Keys()
	offer := binary.LittleEndian.AppendUint64(nil, r.Address())
	return &inbox{m: m, region: r, mem: mem}, binary.LittleEndian.AppendUint64(offer, uint64(key)), nil
}

// inbox is memory of this rank.
type inbox struct {
	m      *Memory
	region verbs.Region
	mem    []byte
}

func (b *inbox) Bytes() []byte { return b.mem }

func (b *inbox) Flag(at int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&b.mem[at : at+8][0]))
}

// Opened does nothing: the key is the way to the memory.
func (b *inbox) Opened() {}

// Close frees the memory.
func (b *inbox) Close() error {
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	mem := b.mem
	b.mem = nil
	return errors.Join(b.m.deregister(b.region), verbs.FreeMemory(mem))
}

// outbox is memory of the other rank.
type outbox struct {
	m       *Memory
	size    int
	slot    int // largest update from header to trailer, in bytes
	address uint64
	key     uint32
	buf     []buffer // one for each update on its way
	current *buffer  // that is being filled
	at      int      // offset of its slot
}

// buffer has an update until it has arrived, behind 8 bytes that are always 0.
type buffer struct {
	mem    []byte
	region verbs.Region // nil: the memory was stopped before Open
	busy   bool         // under the lock
}

const zeros = 8

// Open returns the memory of an offer. It registers queue buffers for updates of slot bytes: later the device could refuse
// them, when the receiver no longer takes updates from the link.
func (m *Memory) Open(size, slot, queue int, offer []byte) (carrier.Outbox, error) {
	if len(offer) != offerSize {
		return nil, fmt.Errorf("an offer of %d bytes, want %d", len(offer), offerSize)
	}
	le := binary.LittleEndian
	o := &outbox{m: m, buf: make([]buffer, queue), size: size, slot: slot, address: le.Uint64(offer), key: le.Uint32(offer[8:])}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range o.buf {
		if err := o.reserve(&o.buf[i]); err != nil {
			return nil, errors.Join(err, o.free())
		}
	}
	return o, nil
}

// Size returns the number of bytes of the memory.
func (o *outbox) Size() int { return o.size }

// Room reports whether a buffer is free.
func (o *outbox) Room() bool {
	o.m.mu.Lock()
	defer o.m.mu.Unlock()
	return o.idle() != nil
}

// idle returns a buffer without an update; nil: there is none. The lock is held.
func (o *outbox) idle() *buffer {
	for i := range o.buf {
		if !o.buf[i].busy {
			return &o.buf[i]
		}
	}
	return nil
}

// Arrived reports whether no update is on its way.
func (o *outbox) Arrived() bool {
	o.m.mu.Lock()
	defer o.m.mu.Unlock()
	for i := range o.buf {
		if o.buf[i].busy {
			return false
		}
	}
	return true
}

// Begin takes a free buffer, and sets the header of the slot to 0.
func (o *outbox) Begin(at, n int) error {
	o.m.mu.Lock()
	defer o.m.mu.Unlock()
	b := o.idle()
	switch {
	case b == nil:
		return fmt.Errorf("all %d buffers are on their way to the rank", len(o.buf))
	case n > o.slot:
		return fmt.Errorf("an update of %d bytes with its header, want at most %d", n, o.slot)
	}
	o.current, o.at = b, at
	o.post(b, 0, zeros, at, nil)
	return nil
}

// reserve gives a buffer its memory, and registers it unless the memory of the rank is stopped. The lock is held.
func (o *outbox) reserve(b *buffer) (err error) {
	if b.mem, err = verbs.NewMemory(zeros + o.slot); err == nil && !o.m.stopped {
		b.region, err = o.m.register(b.mem, verbs.AccessLocal)
	}
	return err
}

// free frees the memory of all buffers. The lock is held.
func (o *outbox) free() error {
	var errs []error
	for i := range o.buf {
		if b := &o.buf[i]; b.mem != nil {
			errs = append(errs, o.m.deregister(b.region), verbs.FreeMemory(b.mem))
			b.mem, b.region = nil, nil
		}
	}
	return errors.Join(errs...)
}

// post writes the bytes lo … hi-1 of a buffer to an offset. free is the buffer that is free again with this write; nil: none.
// The lock is held.
func (o *outbox) post(b *buffer, lo, hi, at int, free *buffer) {
	if o.m.stopped {
		return // no rank reads it
	}
	key, _ := b.region.Keys()
	o.m.post(request{
		work: verbs.Work{Op: verbs.OpWrite, Mem: b.mem[lo:hi], Key: key, Remote: o.address + uint64(at), RemoteKey: o.key},
		free: free,
	})
}

// Write copies b to the buffer.
func (o *outbox) Write(at int, b []byte) { copy(o.current.mem[zeros+at-o.at:], b) }

// End writes the update, and then its header.
func (o *outbox) End(at, n int, header uint64) error {
	b := o.current
	binary.LittleEndian.PutUint64(b.mem[zeros:], header)
	o.m.mu.Lock()
	defer o.m.mu.Unlock()
	for lo := headerSize; lo < n; {
		hi := min(n, lo+o.m.dev.place.MaxMessage)
		o.post(b, zeros+lo, zeros+hi, at+lo, nil)
		lo = hi
	}
	b.busy = !o.m.stopped
	o.post(b, zeros, zeros+headerSize, at, b)
	return nil
}

// headerSize is the size of a slot's header.
const headerSize = 8

// Close frees the buffers.
func (o *outbox) Close() error {
	o.m.mu.Lock()
	defer o.m.mu.Unlock()
	return o.free()
}
