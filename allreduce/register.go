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

// Register lets collectives send from s without a copy if bytes go over verbs, until
// Unregister or Close. Otherwise it does nothing. Vectors from Alloc are registered already.
// Other ranks get no access to s. Each epoch registers s again: if the device then refuses
// it, s is copied as before, and the log has a warning.
//
// Registered memory is locked and counts against RLIMIT_MEMLOCK.
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

// Unregister undoes the Register of s. It must not be called during a collective.
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
	pinner runtime.Pinner // pins mem if it is in Go's heap: the device has its address
	ours   bool           // mem is from verbs.NewMemory
}

// pinned has the registered memory of a group. It outlives the epochs' domains.
type pinned struct {
	mu  sync.Mutex
	all []*pin
}

func (p *pinned) add(one *pin) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, one)
}

// take removes and returns the caller's pin that begins at the same address as mem; nil if there
// is none.
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

// registerAll registers all pins with the device of a new epoch. It tries all of them, and joins
// the errors.
func (p *pinned) registerAll(d *verbs.Domain) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, one := range p.all {
		errs = append(errs, d.Register(one.mem))
	}
	return errors.Join(errs...)
}

// release unpins and frees all memory. The devices are closed already.
func (p *pinned) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.all {
		one.pinner.Unpin()
		if one.ours {
			_ = verbs.FreeMemory(one.mem) // on failure only address space is lost
		}
	}
	p.all = nil
}
