// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"
)

// Domain is an open port of a device, with its registered memory and its streams. It is safe
// for concurrent use; each of its streams belongs to one goroutine at a time.
type Domain struct {
	place Place

	mu      sync.Mutex
	ctx     Context // nil: closed
	regions []registered
	streams int // number of open streams

	direct, copied int64 // bytes sent by closed streams
}

// registered is registered memory of the program.
type registered struct {
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

// Place returns the port.
func (d *Domain) Place() Place { return d.place }

var errClosed = errors.New("verbs: the domain is closed")

// Register lets streams send from mem without a copy, until Unregister or Close. mem must
// not be freed or moved until then. Other machines get no access to it.
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
		return d.registerError(len(mem), err)
	}
	key, _ := r.Keys()
	d.regions = append(d.regions, registered{mem, r, key})
	return nil
}

func (d *Domain) registerError(n int, err error) error {
	return &RegisterError{Place: d.place, Bytes: n, Limit: LockLimit(), Err: err}
}

// Unregister undoes the Register of the memory that begins where mem does. No stream may be
// sending from it.
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

// keyOf returns the local key of the registered region that contains all of mem.
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

// open returns the context for a new stream, and counts the stream.
func (d *Domain) open() (Context, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx == nil {
		return nil, errClosed
	}
	d.streams++
	return d.ctx, nil
}

// streamClosed counts the end of a stream and its bytes.
func (d *Domain) streamClosed(direct, copied int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.streams--
	d.direct += direct
	d.copied += copied
}

// Sent returns the numbers of bytes that closed streams have sent directly, and that they
// have copied before sending.
func (d *Domain) Sent() (direct, copied int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.direct, d.copied
}

// Close deregisters everything and closes the device. All streams must be closed before. It is
// idempotent.
func (d *Domain) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx == nil {
		return nil
	}
	if d.streams > 0 {
		panic(fmt.Sprintf("BUG: verbs: Close of a domain with %d open streams", d.streams))
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
