// SPDX-License-Identifier: Apache-2.0

package verbstest

import (
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/verbs"
)

// window is a memory window: a key and, while it is bound, the memory and the queue.
type window struct {
	f     *Fabric
	key   uint32
	bound bool
	queue uint32 // the queue whose other end may use it
	at    *region
	lo    int
	n     int
}

func (d *device) Window() (verbs.Window, error) {
	f := d.f
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.noWindows {
		return nil, errors.New("verbstest: no memory windows")
	}
	w := &window{f: f, key: f.newKey()}
	f.windows[w.key>>8] = w
	return w, nil
}

func (w *window) Key() uint32 {
	w.f.mu.Lock()
	defer w.f.mu.Unlock()
	return w.key
}

func (w *window) Close() error {
	w.f.mu.Lock()
	defer w.f.mu.Unlock()
	if w.f.windows[w.key>>8] != w {
		return fmt.Errorf("verbstest: window %d was closed before", w.key)
	}
	delete(w.f.windows, w.key>>8)
	return nil
}

// bind executes an OpBind, as strictly as a device.
func (q *queue) bind(w *verbs.Work) verbs.Status {
	o, r := w.Window.(*window), w.Region.(*region)
	lo, inside := offsetIn(r.mem, w.Mem)
	if o.bound || !inside || r.access != verbs.AccessWindow || w.RemoteKey>>8 != o.key>>8 || w.RemoteKey == o.key {
		return verbs.BindFailed
	}
	o.key, o.bound, o.queue, o.at, o.lo, o.n = w.RemoteKey, true, q.number, r, lo, len(w.Mem)
	return verbs.Success
}

// invalidate executes an OpInvalidate.
func (q *queue) invalidate(key uint32) verbs.Status {
	o := q.f.windows[key>>8]
	if o == nil || !o.bound || o.key != key || o.queue != q.number {
		return verbs.BindFailed
	}
	o.bound = false
	return verbs.Success
}

// offsetIn returns the offset of part in all.
func offsetIn(all, part []byte) (int, bool) {
	lo := cap(all) - cap(part)
	if lo < 0 || lo+len(part) > len(all) || &all[lo] != &part[0] {
		return 0, false
	}
	return lo, true
}

// at returns n bytes that the other end of a queue may write with a key.
func (q *queue) at(key uint32, addr uint64, n int) ([]byte, bool) {
	r, lo, hi := q.f.regions[key], 0, 0
	if r != nil && r.access == verbs.AccessRemote {
		hi = len(r.mem)
	} else if w := q.f.windows[key>>8]; w != nil && w.bound && w.key == key && w.queue == q.number {
		r, lo, hi = w.at, w.lo, w.lo+w.n
	} else {
		return nil, false
	}
	if addr < r.Address()+uint64(lo) || addr-r.Address()+uint64(n) > uint64(hi) {
		return nil, false
	}
	at := int(addr - r.Address())
	return r.mem[at : at+n], true
}
