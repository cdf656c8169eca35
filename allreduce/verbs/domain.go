// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"
)

// Domain is an open port of a device: what is registered with it, and the streams over it.
// It is safe for use by several goroutines; each of its streams belongs to one at a time.
type Domain struct {
	place Place

	mu      sync.Mutex
	ctx     Context // nil: closed
	regions []held
	streams int // that are open

	direct, copied int64 // bytes that closed streams have sent
}

// held is memory of the program's own that is registered.
type held struct {
	mem    []byte
	region Region
	key    uint32
}

// NewDomain opens the port.
func NewDomain(lib Library, p Place) (*Domain, error) {
	ctx, err := lib.Open(p)
	if err != nil {
		return nil, err
	}
	return &Domain{place: p, ctx: ctx}, nil
}

// Place is the port.
func (d *Domain) Place() Place { return d.place }

var errClosed = errors.New("verbs: the domain is closed")

// Register lets streams send from mem without copying it, until Unregister or Close. It must
// stay where it is until then. Other machines get no access to it.
func (d *Domain) Register(mem []byte) error {
	if len(mem) == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx == nil {
		return errClosed
	}
	r, err := d.ctx.Register(mem, AccessLocal)
	if err != nil {
		return d.refused(len(mem), err)
	}
	key, _ := r.Keys()
	d.regions = append(d.regions, held{mem, r, key})
	return nil
}

func (d *Domain) refused(n int, err error) error {
	return &RegisterError{Place: d.place, Bytes: n, Limit: LockLimit(), Err: err}
}

// Unregister takes back what Register did with the memory that begins where mem does. No
// stream is sending it.
func (d *Domain) Unregister(mem []byte) error {
	if len(mem) == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, h := range d.regions {
		if &h.mem[0] == &mem[0] {
			d.regions = append(d.regions[:i], d.regions[i+1:]...)
			return h.region.Close()
		}
	}
	return nil
}

// keyOf is the key of the registered memory that holds all of mem.
func (d *Domain) keyOf(mem []byte) (key uint32, ok bool) {
	at, n := uintptr(unsafe.Pointer(unsafe.SliceData(mem))), uintptr(len(mem))
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.regions {
		h := &d.regions[i]
		lo := uintptr(unsafe.Pointer(unsafe.SliceData(h.mem)))
		if at >= lo && at-lo+n <= uintptr(len(h.mem)) {
			return h.key, true
		}
	}
	return 0, false
}

// open gives the context to a stream in the making.
func (d *Domain) open() (Context, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx == nil {
		return nil, errClosed
	}
	d.streams++
	return d.ctx, nil
}

// left follows the end of a stream.
func (d *Domain) left(direct, copied int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.streams--
	d.direct += direct
	d.copied += copied
}

// Sent is how many bytes streams that are closed have sent from where they were, and how
// many they have copied to send them.
func (d *Domain) Sent() (direct, copied int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.direct, d.copied
}

// Close deregisters everything and closes the device. All streams are closed before. It may be
// called again.
func (d *Domain) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx == nil {
		return nil
	}
	if d.streams > 0 {
		panic(fmt.Sprintf("BUG: verbs: a domain is closed, and %d of its streams are not", d.streams))
	}
	var errs []error
	for _, h := range d.regions {
		errs = append(errs, h.region.Close())
	}
	d.regions = nil
	errs = append(errs, d.ctx.Close())
	d.ctx = nil
	return errors.Join(errs...)
}
