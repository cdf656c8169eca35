// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"errors"
	"fmt"
	"time"
)

const (
	windowSlots = 8
	slotSize    = 64 << 10
	windowSize  = windowSlots * slotSize

	// bindTimeout is the limit for this machine's device to bind the memory windows.
	bindTimeout = 10 * time.Second
)

// window is the memory to which the other end writes long messages: a ring of slots, one per
// message. A slot is writable, under the next of its 256 keys, from the credit for it
// until a message has arrived in it. That needs memory windows of type 2. On a device without
// them all slots are writable under one key as long as the stream is open.
type window struct {
	mem    []byte
	region Region
	binds  [windowSlots]Window // nil: the device has no memory windows
	keys   [windowSlots]uint32 // the current or last key of each slot

	// Counts of messages since the start. Message n uses slot n%windowSlots.
	arrived  uint64 // arrived
	closed   uint64 // their slots have been made unwritable again
	read     uint64 // read
	writable uint64 // their slots are writable for the next round
}

// nextKey returns the key that follows another one of the same memory window. The program
// chooses the lowest byte.
func nextKey(key uint32) uint32 { return key&^0xff | (key+1)&0xff }

// init allocates and registers the memory.
func (w *window) init(d *Domain, ctx Context) (err error) {
	if w.mem, err = NewMemory(windowSize); err != nil {
		return err
	}
	access := AccessRemote
	if w.makeBinds(d, ctx) {
		access = AccessWindow
	}
	if w.region, err = ctx.Register(w.mem, access); err != nil {
		return d.registerError(len(w.mem), err)
	}
	for i := range w.keys {
		if w.bound() {
			w.keys[i] = nextKey(w.binds[i].Key())
		} else {
			_, w.keys[i] = w.region.Keys()
		}
	}
	return nil
}

// makeBinds makes memory windows. It reports false if the device has too few.
func (w *window) makeBinds(d *Domain, ctx Context) bool {
	if d.place.Limits.Windows < windowSlots {
		return false
	}
	for i := range w.binds {
		b, err := ctx.Window()
		if err != nil {
			_ = w.closeBinds() // none is bound
			return false
		}
		w.binds[i] = b
	}
	return true
}

func (w *window) bound() bool { return w.binds[windowSlots-1] != nil }

func (w *window) closeBinds() error {
	var errs []error
	for i, b := range w.binds {
		if b != nil {
			errs = append(errs, b.Close())
		}
		w.binds[i] = nil
	}
	return errors.Join(errs...)
}

// close deregisters the memory. The queue must be closed before.
func (w *window) close() (err error) {
	if w.region != nil {
		err = w.region.Close()
	}
	if w.mem != nil {
		err = errors.Join(err, FreeMemory(w.mem))
	}
	*w = window{}
	return err
}

// slot returns the slot of a message.
func (w *window) slot(number uint64) []byte {
	return w.mem[number%windowSlots*slotSize:][:slotSize]
}

// openAll makes all slots writable for the first round, and waits for the device: the other
// end may write as soon as Accept has returned.
func (s *Stream) openAll() error {
	if !s.window.bound() {
		return nil
	}
	for i := range uint64(windowSlots) {
		if err := s.bind(i); err != nil {
			return err
		}
	}
	for begun := time.Now(); s.pending > 0; {
		if s.progress(); s.err != nil {
			return s.err
		}
		if took := time.Since(begun); took > bindTimeout {
			return fmt.Errorf("verbs: %s: %d operations on memory windows are pending after %v", s.domain.place.Device, s.pending, took)
		}
	}
	return nil
}

// bind makes the slot of a message writable under its key.
func (s *Stream) bind(number uint64) error {
	w, i := &s.window, number%windowSlots
	return s.send(Work{Op: OpBind, Window: w.binds[i], Region: w.region, Mem: w.slot(number), RemoteKey: w.keys[i]}, sending{})
}

// maintainWindow makes slots unwritable in which a message has arrived, and those writable again whose
// message has been read, as far as the queue has room. Their credit follows in the queue.
func (s *Stream) maintainWindow() {
	w := &s.window
	if !w.bound() {
		w.closed, w.writable = w.arrived, w.read
		return
	}
	for w.closed < w.arrived && s.err == nil && s.pending < len(s.sent) {
		if s.send(Work{Op: OpInvalidate, RemoteKey: w.keys[w.closed%windowSlots]}, sending{}) == nil {
			w.closed++
		}
	}
	for w.writable < min(w.read, w.closed) && s.err == nil && s.pending < len(s.sent) {
		i := w.writable % windowSlots
		w.keys[i] = nextKey(w.keys[i])
		if s.bind(w.writable) == nil {
			w.writable++
		}
	}
}
