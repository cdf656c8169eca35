// SPDX-License-Identifier: Apache-2.0

package mailbox

import (
	"encoding/binary"
	"fmt"
)

// Writer is the sender's end of a mailbox. It is not safe for concurrent use.
type Writer struct {
	mem    Memory // nil: only images are made
	layout Layout
	key    uint32
	number uint64 // of the last update
}

// NewWriter returns the writer of a mailbox which no writer has used before. mem may be nil if only [Writer.Image] is called.
func NewWriter(mem Memory, l Layout, key uint32) (*Writer, error) {
	if err := check(mem, l); err != nil {
		return nil, err
	}
	return &Writer{mem: mem, layout: l, key: key}, nil
}

func check(mem Memory, l Layout) error {
	if err := l.Validate(); err != nil {
		return err
	}
	if mem != nil && len(mem.Bytes())-l.At < l.Size() {
		return fmt.Errorf("mailbox: %d bytes of memory from offset %d, want %d", len(mem.Bytes())-l.At, l.At, l.Size())
	}
	return nil
}

// Reserve returns the memory for the payload of the next update, Layout.Payload bytes. The update
// that was there, the oldest, is no longer valid.
func (w *Writer) Reserve() []byte {
	at := w.layout.slot(w.number + 1)
	// Swap and not Store: no later write to the slot may become visible before it.
	w.mem.Flag(at).Swap(0)
	return w.mem.Bytes()[at+payloadAt : at+payloadAt+w.layout.Payload]
}

// Publish makes the first size bytes of what Reserve returned visible as an update.
func (w *Writer) Publish(size int, round uint64, sent int64) {
	if size < 0 || size > w.layout.Payload {
		panic(fmt.Sprintf("BUG: mailbox: an update of %d bytes, want at most %d", size, w.layout.Payload))
	}
	w.number++
	at := w.layout.slot(w.number)
	fill(w.mem.Bytes()[at:at+w.layout.stride()], size, round, sent, w.key)
	w.mem.Flag(at + payloadAt + pad(size)).Store(w.number)
	w.mem.Flag(at).Store(w.number)
}

// Image appends the bytes of an update, from header to trailer, and returns them with the offset in
// the receiver's memory to which they belong. It fails if the payload is longer than Layout.Payload.
func (w *Writer) Image(dst, payload []byte, round uint64, sent int64) (image []byte, at int, err error) {
	if len(payload) > w.layout.Payload {
		return dst, 0, fmt.Errorf("mailbox: an update of %d bytes, want at most %d", len(payload), w.layout.Payload)
	}
	w.number++
	begin := len(dst)
	var head [payloadAt]byte
	dst = append(dst, head[:]...)
	dst = append(dst, payload...)
	for range pad(len(payload)) - len(payload) {
		dst = append(dst, 0)
	}
	slot := dst[begin:]
	binary.LittleEndian.PutUint64(slot, w.number)
	fill(slot, len(payload), round, sent, w.key)
	return binary.LittleEndian.AppendUint64(dst, w.number), w.layout.slot(w.number), nil
}
