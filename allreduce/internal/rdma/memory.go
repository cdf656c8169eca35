// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"errors"
	"runtime"
	"slices"

	"github.com/gvw-project/gvw/allreduce/verbs"
)

// region is memory that is registered in every epoch.
type region struct {
	mem    []byte
	pinner runtime.Pinner // pins mem if it is in Go's heap: the device has its address
	own    bool           // mem is from Alloc
}

// RegistrationError reports memory that an opened device refuses to register.
type RegistrationError struct{ Err error }

func (e *RegistrationError) Error() string { return e.Err.Error() }

// Unwrap returns the errors of all refused regions.
func (e *RegistrationError) Unwrap() error { return e.Err }

// Register lets streams send from mem without a copy, in this epoch and in later ones. mem is not
// empty.
func (d *Device) Register(mem []byte) error {
	r := &region{mem: mem}
	r.pinner.Pin(&mem[0])
	if err := d.add(r); err != nil {
		r.pinner.Unpin()
		return err
	}
	return nil
}

// Unregister undoes the Register of the memory that begins where mem does. It does nothing if there
// is none.
func (d *Device) Unregister(mem []byte) error {
	d.mu.Lock()
	domain := d.domain
	at := slices.IndexFunc(d.all, func(r *region) bool { return &r.mem[0] == &mem[0] && !r.own })
	if at < 0 {
		d.mu.Unlock()
		return nil
	}
	r := d.all[at]
	d.all = slices.Delete(d.all, at, at+1)
	d.mu.Unlock()
	defer r.pinner.Unpin()
	if domain == nil {
		return nil
	}
	return domain.Unregister(r.mem)
}

// Alloc returns n registered bytes, which are valid until Release.
func (d *Device) Alloc(n int) ([]byte, error) {
	b, err := verbs.NewMemory(n)
	if err != nil {
		return nil, err
	}
	if err := d.add(&region{mem: b, own: true}); err != nil {
		return nil, errors.Join(err, verbs.FreeMemory(b))
	}
	return b, nil
}

// Release unpins and frees all registered memory. The device is closed.
func (d *Device) Release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.all {
		r.pinner.Unpin()
		if r.own {
			_ = verbs.FreeMemory(r.mem) // on failure only address space is lost
		}
	}
	d.all = nil
}

func (d *Device) add(r *region) error {
	if domain := d.current(); domain != nil {
		if err := domain.Register(r.mem); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, r)
	return nil
}

// registerAll registers all memory with a domain that was just opened.
func (d *Device) registerAll(domain *verbs.Domain) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, r := range d.all {
		errs = append(errs, domain.Register(r.mem))
	}
	if err := errors.Join(errs...); err != nil {
		return &RegistrationError{Err: err}
	}
	return nil
}
