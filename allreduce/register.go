// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/gvw-project/gvw/allreduce/verbs"
)

// Register lets collectives send from s without a copy where bytes go over verbs, until
// Unregister or Close; elsewhere it does nothing. Vectors from Alloc are registered already.
// Other ranks get no access to it. What a device does not take when the job is wired, or
// wired anew, is copied as before, and the log tells.
//
// Registered memory is locked: it counts against RLIMIT_MEMLOCK.
func Register[T Element](g *Group, s []T) error {
	if len(s) == 0 {
		return nil
	}
	p := &pin{mem: Vec(s).bytes()}
	p.pinner.Pin(unsafe.SliceData(s))
	if err := g.pin(p); err != nil {
		p.pinner.Unpin()
		return err
	}
	return nil
}

// Unregister takes back the Register of s. No collective is under way.
func Unregister[T Element](g *Group, s []T) error {
	if len(s) == 0 {
		return nil
	}
	g.mu.Lock()
	d := g.domain
	g.mu.Unlock()
	p := g.pinned.take(Vec(s).bytes())
	if p == nil {
		return nil
	}
	defer p.pinner.Unpin()
	if d == nil {
		return nil
	}
	return d.Unregister(p.mem)
}

func (g *Group) pin(p *pin) error {
	g.mu.Lock()
	d, closed := g.domain, g.closed
	g.mu.Unlock()
	if closed {
		return ErrClosed
	}
	if d != nil {
		if err := d.Register(p.mem); err != nil {
			return fmt.Errorf("rank %d: %w", g.cfg.Rank, err)
		}
	}
	g.pinned.add(p)
	return nil
}

// pin is memory that is registered in every epoch.
type pin struct {
	mem    []byte
	pinner runtime.Pinner // of memory of Go's
	ours   bool           // it is from verbs.NewMemory
}

// pinned are those of a group.
type pinned struct {
	mu  sync.Mutex
	all []*pin
}

func (p *pinned) add(one *pin) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, one)
}

// take forgets the one that begins where mem does.
func (p *pinned) take(mem []byte) *pin {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, one := range p.all {
		if &one.mem[0] == &mem[0] && !one.ours {
			p.all = append(p.all[:i], p.all[i+1:]...)
			return one
		}
	}
	return nil
}

// registerAll registers them with the device of a new epoch.
func (p *pinned) registerAll(d *verbs.Domain) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, one := range p.all {
		errs = append(errs, d.Register(one.mem))
	}
	return errors.Join(errs...)
}

// release lets go of all, which no device uses any more.
func (p *pinned) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.all {
		one.pinner.Unpin()
		if one.ours {
			_ = verbs.FreeMemory(one.mem) // the group is closed, and so is the memory's use
		}
	}
	p.all = nil
}
