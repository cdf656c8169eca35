// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"errors"
	"net"
	"net/netip"
	"sync"

	"github.com/gvw-project/gvw/allreduce/verbs"
)

// Port describes the port of a device that a rank looks for.
type Port struct {
	Library verbs.Library // source of devices; required
	Name    string        // device, device:port, one of its IP addresses, or "auto"; "" is "auto"
	Addr    string        // host:port at which other ranks reach this one, for "auto"
}

// Find returns the place of the port.
func (p Port) Find() (verbs.Place, error) {
	devices, err := p.Library.Devices()
	if err != nil {
		return verbs.Place{}, err
	}
	var bound netip.Addr
	if host, _, err := net.SplitHostPort(p.Addr); err == nil {
		bound, _ = netip.ParseAddr(host) // a name matches no device
	}
	return verbs.Choose(devices, p.Name, bound)
}

// Device is the RDMA device of a rank. The zero value is a closed device.
type Device struct {
	mu     sync.Mutex
	domain *verbs.Domain // nil: the device is closed
	all    []*region     // the registered memory; it outlives the domains
}

// Open opens the port, and registers all memory with it. It verifies that a stream can be made: a
// device may be listed and still refuse a queue pair or its memory. A *RegistrationError leaves the
// device open: bytes of memory that it refuses are copied before they are sent.
func (d *Device) Open(p Port) error {
	place, err := p.Find()
	if err != nil {
		return err
	}
	domain, err := verbs.NewDomain(p.Library, place)
	if err != nil {
		return err
	}
	s, err := domain.NewStream()
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		return errors.Join(err, domain.Close())
	}
	d.mu.Lock()
	d.domain = domain
	d.mu.Unlock()
	return d.registerAll(domain)
}

var errNotOpen = errors.New("rdma: the device is closed")

// NewStream returns a stream of the open device.
func (d *Device) NewStream() (*verbs.Stream, error) {
	domain := d.current()
	if domain == nil {
		return nil, errNotOpen
	}
	return domain.NewStream()
}

// Close closes the device, and returns the numbers of bytes that its streams have sent directly, and
// that they have copied before sending. It does nothing if the device is closed.
func (d *Device) Close() (direct, copied int64, err error) {
	d.mu.Lock()
	domain := d.domain
	d.domain = nil
	d.mu.Unlock()
	if domain == nil {
		return 0, 0, nil
	}
	direct, copied = domain.Sent()
	return direct, copied, domain.Close()
}

// String returns the place of the open device; "" if it is closed.
func (d *Device) String() string {
	if domain := d.current(); domain != nil {
		return domain.Place().String()
	}
	return ""
}

func (d *Device) current() *verbs.Domain {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.domain
}
