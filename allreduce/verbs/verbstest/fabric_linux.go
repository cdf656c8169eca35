// SPDX-License-Identifier: Apache-2.0

package verbstest

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/gvw-project/gvw/allreduce/verbs"
)

// Fabric is a verbs.Library whose devices can all reach each other.
type Fabric struct {
	mu        sync.Mutex
	devices   []verbs.Device
	rng       *rand.Rand
	queues    map[uint32]*queue
	regions   map[uint32]*region
	windows   map[uint32]*window // by their keys without the lowest byte
	last      uint32             // the last number assigned
	open      int                // number of open contexts
	refuse    int                // least size in bytes of regions to refuse; 0: none
	noOpen    error
	noWindows bool
	writes    int
}

// Device returns a device with an active Ethernet port.
func Device(name, addr string) verbs.Device {
	return verbs.Device{
		Name: name, Atomics: verbs.AtomicsDevice,
		Limits: verbs.Limits{Queues: 1000, Works: 64, Completions: 256, Regions: 1000, Windows: 1000},
		Ports: []verbs.Port{{
			Number: 1, Active: true, State: "active", Link: verbs.LinkEthernet, MTU: 1024, MaxMessage: 1 << 20,
			GIDs: []verbs.GID{{Index: 1, Addr: netip.AddrFrom16(netip.MustParseAddr(addr).As16()), Kind: verbs.GIDRoCE2}},
		}},
	}
}

// New returns a fabric of these devices. The seed determines when messages are delivered.
func New(seed uint64, devices ...verbs.Device) *Fabric {
	return &Fabric{
		devices: devices, rng: rand.New(rand.NewPCG(seed, 1)),
		queues: map[uint32]*queue{}, regions: map[uint32]*region{}, windows: map[uint32]*window{},
	}
}

// Refuse makes the registration of n bytes or more fail from now on; 0: of none.
func (f *Fabric) Refuse(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = n
}

// Unplug makes opening a device fail with err from now on; nil: succeed.
func (f *Fabric) Unplug(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noOpen = err
}

// NoWindows makes devices fail to make memory windows, although their limits have some.
func (f *Fabric) NoWindows() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noWindows = true
}

// newKey returns an unused key; f is locked.
func (f *Fabric) newKey() uint32 {
	f.last++
	return f.last << 8
}

// Left describes the objects that have not been closed; "": none.
func (f *Fabric) Left() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open+len(f.queues)+len(f.regions)+len(f.windows) == 0 {
		return ""
	}
	return fmt.Sprintf("%d contexts, %d queues, %d regions, %d windows", f.open, len(f.queues), len(f.regions), len(f.windows))
}

// Writes returns the number of messages that have been written into windows.
func (f *Fabric) Writes() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.writes
}

// BreakAll breaks all queue pairs, as a failing switch would.
func (f *Fabric) BreakAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, q := range f.queues {
		q.breaks(verbs.RetryExceeded)
	}
}

// Devices returns all devices.
func (f *Fabric) Devices() ([]verbs.Device, error) { return f.devices, nil }

// Open opens a device.
func (f *Fabric) Open(verbs.Place) (verbs.Context, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.noOpen != nil {
		return nil, f.noOpen
	}
	f.open++
	return &device{f: f}, nil
}

// device is an open device.
type device struct{ f *Fabric }

func (d *device) Close() error {
	d.f.mu.Lock()
	defer d.f.mu.Unlock()
	d.f.open--
	return nil
}

// region is registered memory.
type region struct {
	f      *Fabric
	mem    []byte
	key    uint32
	access verbs.Access
}

func (d *device) Register(mem []byte, access verbs.Access) (verbs.Region, error) {
	f := d.f
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse > 0 && len(mem) >= f.refuse {
		return nil, unix.ENOMEM
	}
	r := &region{f: f, mem: mem, key: f.newKey(), access: access}
	f.regions[r.key] = r
	return r, nil
}

func (r *region) Keys() (local, remote uint32) { return r.key, r.key }

// Address returns an arbitrary address.
func (r *region) Address() uint64 { return uint64(r.key) << 32 }

func (r *region) Close() error {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	if r.f.regions[r.key] != r {
		return fmt.Errorf("verbstest: region %d was closed before", r.key)
	}
	for _, w := range r.f.windows {
		if w.bound && w.at == r {
			return fmt.Errorf("verbstest: region %d is closed, and window %d is bound to it", r.key, w.key)
		}
	}
	delete(r.f.regions, r.key)
	return nil
}

func (d *device) Queue(c verbs.QueueConfig) (verbs.Queue, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("eventfd", err)
	}
	f := d.f
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	q := &queue{f: f, number: f.last, conf: c, fd: fd}
	f.queues[q.number] = q
	return q, nil
}
