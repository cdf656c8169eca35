// SPDX-License-Identifier: Apache-2.0

package mailbox

import (
	"encoding/binary"
	"fmt"
)

// Target is the memory of a mailbox as its sender sees it. Its methods are called in this order for
// each slot: Begin, some Writes, End.
type Target interface {
	// Size returns the number of bytes of the memory.
	Size() int
	// Begin sets the 8 bytes at an offset to 0, before anything that is written after it, and prepares the
	// memory for n bytes from there.
	Begin(at, n int) error
	// Write copies b to an offset among these n bytes, except for the first 8.
	Write(at int, b []byte)
	// End sets the 8 bytes at Begin's offset, after all that was written since.
	End(at, n int, header uint64) error
}

// Writer is the sender's end of a mailbox. It is not safe for concurrent use.
type Writer struct {
	target  Target
	layout  Layout
	key     uint32
	number  uint64 // of the last update
	at      int    // of the slot that is being written
	size    int    // of the update that is being written
	written int    // its bytes so far
	scratch [payloadAt]byte
	failed  error
}

// NewWriter returns the writer of a mailbox which no writer has used before.
func NewWriter(t Target, l Layout, key uint32) (*Writer, error) {
	if err := check(t.Size(), l); err != nil {
		return nil, err
	}
	return &Writer{target: t, layout: l, key: key}, nil
}

func check(size int, l Layout) error {
	if err := l.Validate(); err != nil {
		return err
	}
	if size-l.At < l.Size() {
		return fmt.Errorf("mailbox: %d bytes of memory from offset %d, want %d", size-l.At, l.At, l.Size())
	}
	return nil
}

// Begin begins an update of size bytes. The oldest update, which was in its slot, is no longer valid.
func (w *Writer) Begin(size int) error {
	switch {
	case w.failed != nil:
		return w.failed
	case size < 0 || size > w.layout.Payload:
		return fmt.Errorf("mailbox: an update of %d bytes, want at most %d", size, w.layout.Payload)
	}
	w.at, w.size, w.written = w.layout.slot(w.number+1), size, 0
	w.failed = w.target.Begin(w.at, w.whole())
	return w.failed
}

// whole returns the number of bytes of the update from header to trailer.
func (w *Writer) whole() int { return payloadAt + pad(w.size) + trailer }

// Write adds bytes to the update.
func (w *Writer) Write(b []byte) {
	if len(b) > w.size-w.written {
		panic(fmt.Sprintf("BUG: mailbox: %d bytes behind %d of %d", len(b), w.written, w.size))
	}
	w.target.Write(w.at+payloadAt+w.written, b)
	w.written += len(b)
}

// End completes the update, whose bytes have the checksum sum (package crc32c), and makes it visible.
func (w *Writer) End(h Head, sum uint32) error {
	if w.written != w.size {
		panic(fmt.Sprintf("BUG: mailbox: an update of %d bytes has %d", w.size, w.written))
	}
	w.number++
	f := fields{Head: h, size: w.size, key: w.key, sum: sum}
	f.put(&w.scratch)
	w.target.Write(w.at+roundAt, w.scratch[roundAt:])
	tail := binary.LittleEndian.AppendUint64(w.scratch[:pad(w.size)-w.size], w.number)
	clear(tail[:len(tail)-trailer])
	w.target.Write(w.at+payloadAt+w.size, tail)
	w.failed = w.target.End(w.at, w.whole(), w.number)
	return w.failed
}

// Abandon leaves the update that has begun out. The next one takes its slot.
func (w *Writer) Abandon() { w.size, w.written = 0, 0 }

// Local is a Target in memory of this machine.
type Local struct{ Memory }

var _ Target = Local{}

// Size returns the number of bytes of the memory.
func (m Local) Size() int { return len(m.Bytes()) }

// Begin invalidates a slot.
func (m Local) Begin(at, _ int) error {
	// Swap and not Store: no later write to the slot may become visible before it.
	m.Flag(at).Swap(0)
	return nil
}

// Write copies b to an offset.
func (m Local) Write(at int, b []byte) { copy(m.Bytes()[at:], b) }

// End makes a slot valid.
func (m Local) End(at, _ int, header uint64) error {
	m.Flag(at).Store(header)
	return nil
}
