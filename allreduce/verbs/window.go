// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"errors"
	"fmt"
	"time"
)

const (
	panes      = 8
	paneSize   = 64 << 10
	windowSize = panes * paneSize

	// bindPatience is how long a device, which is this machine's own, may take to open the window.
	bindPatience = 10 * time.Second
)

// window is where the other end writes what is long: a ring of panes, one for each message. A
// pane is open, under the next of its 256 keys, from when the other end is given credit for it
// until a message has come into it. That takes memory windows of type 2; where the
// device has none, all panes are open, under one key, as long as the stream is.
type window struct {
	mem    []byte
	region Region
	binds  [panes]Window // nil: the device has none
	keys   [panes]uint32 // under which panes are open, or were last

	// Messages, counted from the start; the one numbered n is, or was, in pane n%panes.
	came   uint64 // they have come
	shut   uint64 // of these, their panes are closed again
	read   uint64 // they are read
	opened uint64 // their panes are open for the next turn
}

// nextKey is the key that follows another of the same memory window: its lowest byte is the
// program's to choose.
func nextKey(key uint32) uint32 { return key&^0xff | (key+1)&0xff }

// init registers the memory.
func (w *window) init(d *Domain, ctx Context) (err error) {
	if w.mem, err = NewMemory(windowSize); err != nil {
		return err
	}
	access := AccessRemote
	if w.makeBinds(d, ctx) {
		access = AccessWindow
	}
	if w.region, err = ctx.Register(w.mem, access); err != nil {
		return d.refused(len(w.mem), err)
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

// makeBinds makes memory windows; false: there are none, or not enough.
func (w *window) makeBinds(d *Domain, ctx Context) bool {
	if d.place.Limits.Windows < panes {
		return false
	}
	for i := range w.binds {
		b, err := ctx.Window()
		if err != nil {
			_ = w.closeBinds() // they are not bound
			return false
		}
		w.binds[i] = b
	}
	return true
}

func (w *window) bound() bool { return w.binds[panes-1] != nil }

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

// close deregisters the memory; the queue is closed.
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

// pane is the memory of a message.
func (w *window) pane(number uint64) []byte {
	return w.mem[number%panes*paneSize:][:paneSize]
}

// openAll opens all panes, for the first turn, and waits until they are: the other end will take
// it for granted.
func (s *Stream) openAll() error {
	if !s.window.bound() {
		return nil
	}
	for i := range uint64(panes) {
		if err := s.bind(i); err != nil {
			return err
		}
	}
	for begun := time.Now(); s.flying > 0; {
		if s.progress(); s.err != nil {
			return s.err
		}
		if took := time.Since(begun); took > bindPatience {
			return fmt.Errorf("verbs: %s: %d memory windows are not bound after %v", s.domain.place.Device, s.flying, took)
		}
	}
	return nil
}

// bind opens the pane of a message under its key.
func (s *Stream) bind(number uint64) error {
	w, i := &s.window, number%panes
	return s.send(Work{Op: OpBind, Window: w.binds[i], Region: w.region, Mem: w.pane(number), RemoteKey: w.keys[i]}, sending{})
}

// tend closes panes into which a message has come, and opens those whose message is read, as far
// as the queue has room. What gives credit for them follows them in the queue.
func (s *Stream) tend() {
	w := &s.window
	if !w.bound() {
		w.shut, w.opened = w.came, w.read
		return
	}
	for w.shut < w.came && s.err == nil && s.flying < len(s.sent) {
		if s.send(Work{Op: OpInvalidate, RemoteKey: w.keys[w.shut%panes]}, sending{}) == nil {
			w.shut++
		}
	}
	for w.opened < min(w.read, w.shut) && s.err == nil && s.flying < len(s.sent) {
		i := w.opened % panes
		w.keys[i] = nextKey(w.keys[i])
		if s.bind(w.opened) == nil {
			w.opened++
		}
	}
}
