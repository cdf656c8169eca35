// SPDX-License-Identifier: Apache-2.0

package rdmawrite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/malt/internal/carrier"
)

const (
	sends = 32 // pending writes of a queue pair
	// lookEvery bounds the time in which a goroutine that waits for the device notices the end.
	lookEvery = 20 * time.Millisecond
)

// Device is an open port, which the memories of an epoch share.
type Device struct {
	place verbs.Place
	ctx   verbs.Context
	limit int64        // of made, in bytes; 0: none
	made  atomic.Int64 // bytes of all inboxes
}

// Open opens a port.
func Open(lib verbs.Library, p verbs.Place) (*Device, error) {
	ctx, err := lib.Open(p)
	if err != nil {
		return nil, err
	}
	return &Device{place: p, ctx: ctx}, nil
}

// Limit sets the largest memory of all inboxes, in bytes; 0: none. It is called before the first Memory.
func (d *Device) Limit(bytes int64) { d.limit = bytes }

// reserve counts the bytes of a new inbox. It fails if all inboxes would exceed the limit.
func (d *Device) reserve(size int) error {
	if now := d.made.Add(int64(size)); d.limit > 0 && now > d.limit {
		d.made.Add(-int64(size))
		return &LimitError{Size: size, Registered: now - int64(size), Limit: d.limit}
	}
	return nil
}

// LimitError means that an inbox would exceed the limit of a device.
type LimitError struct {
	Size       int   // of the inbox, in bytes
	Registered int64 // by other inboxes, in bytes
	Limit      int64 // in bytes
}

// Error names the limit and the remedy.
func (e *LimitError) Error() string {
	return fmt.Sprintf("a receive queue of %d bytes, and %d bytes are registered of at most %d: raise VerbsMemory, or lower Depth or MaxSparse", e.Size, e.Registered, e.Limit)
}

// Close closes the device. All memories must be stopped before.
func (d *Device) Close() error { return d.ctx.Close() }

// Memory returns the memory shared with one rank.
func (d *Device) Memory() *Memory {
	return &Memory{dev: d, psn: rand.Uint32() & (1<<24 - 1)}
}

// Memory is the queue pair to one rank, with the memory that both ends write through it.
type Memory struct {
	dev     *Device
	psn     uint32
	arrived func(error)
	work    sync.WaitGroup

	mu       sync.Mutex
	queue    verbs.Queue // nil: not made yet, or stopped
	regions  []verbs.Region
	queued   []request // not posted yet
	posted   []request // pending, oldest first
	draining bool      // a goroutine waits for completions
	stopped  bool
	err      error // of the device; nil: none
}

// request is a write.
type request struct {
	work verbs.Work
	free *buffer // that is free again when the write is complete; nil: none
}

var _ carrier.Memory = (*Memory)(nil)

// Name returns the name of the port.
func (m *Memory) Name() string { return "verbs over " + m.dev.place.String() }

// A hello, little-endian: queue pair u32, first packet u32, LID u16, MTU u16, version u32, GID.
const (
	helloSize = 32
	version   = 1
)

// Hello makes the queue pair, and returns what the other end needs to connect to it.
func (m *Memory) Hello() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return nil, errStopped
	}
	q, err := m.dev.ctx.Queue(verbs.QueueConfig{Sends: sends, Receives: 1})
	if err != nil {
		return nil, fmt.Errorf("cannot make a queue pair on %v: %w", m.dev.place, err)
	}
	m.queue = q
	p, le := m.dev.place, binary.LittleEndian
	b := le.AppendUint32(nil, q.Number())
	b = le.AppendUint32(b, m.psn)
	b = le.AppendUint16(b, p.LID)
	b = le.AppendUint16(b, uint16(p.MTU))
	b = le.AppendUint32(b, version)
	gid := p.GID.Addr.As16()
	return append(b, gid[:]...), nil
}

var errStopped = errors.New("the membership has ended")

// Meet connects the queue pair to that of the other rank.
func (m *Memory) Meet(theirs []byte, arrived func(error)) error {
	le := binary.LittleEndian
	if len(theirs) != helloSize || le.Uint32(theirs[12:]) != version {
		return fmt.Errorf("a hello of %d bytes, want %d and version %d: the rank uses another way, or another version of this program", len(theirs), helloSize, version)
	}
	peer := verbs.Peer{Queue: le.Uint32(theirs), PSN: le.Uint32(theirs[4:]), LID: le.Uint16(theirs[8:])}
	peer.MTU = min(m.dev.place.MTU, int(le.Uint16(theirs[10:])))
	copy(peer.GID[:], theirs[16:])
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return errStopped
	}
	m.arrived = arrived
	if err := m.queue.Connect(peer, m.psn); err != nil {
		return fmt.Errorf("cannot connect the queue pair on %v: %w", m.dev.place, err)
	}
	return nil
}

// register registers memory until Stop. The lock is held.
func (m *Memory) register(mem []byte, access verbs.Access) (verbs.Region, error) {
	if m.stopped {
		return nil, errStopped
	}
	r, err := m.dev.ctx.Register(mem, access)
	if err != nil {
		return nil, &verbs.RegisterError{Place: m.dev.place, Bytes: len(mem), Limit: verbs.LockLimit(), Err: err}
	}
	m.regions = append(m.regions, r)
	return r, nil
}

// deregister ends the access to memory, unless Stop has. The lock is held.
func (m *Memory) deregister(r verbs.Region) error {
	i := slices.Index(m.regions, r)
	if i < 0 {
		return nil
	}
	m.regions = slices.Delete(m.regions, i, i+1)
	return r.Close()
}

// post queues a write, and posts as many as the device takes. Failures are reported by arrived. The lock is held.
func (m *Memory) post(r request) {
	if m.err != nil {
		return
	}
	m.queued = append(m.queued, r)
	m.pump()
	if !m.draining {
		m.draining = true
		m.work.Go(m.drain)
	}
}

// pump posts what there is room for. The lock is held.
func (m *Memory) pump() {
	for len(m.queued) > 0 && len(m.posted) < sends && m.err == nil {
		if err := m.queue.Send(m.queued[0].work); err != nil {
			m.err = fmt.Errorf("cannot post a write on %v: %w", m.dev.place, err)
			return
		}
		m.posted = append(m.posted, m.queued[0])
		m.queued = m.queued[:copy(m.queued, m.queued[1:])]
	}
}

// drain waits for completions until none is pending.
func (m *Memory) drain() {
	for {
		m.mu.Lock()
		freed := m.poll()
		if freed == 0 && m.err == nil && !m.stopped {
			if err := m.queue.Arm(); err != nil {
				m.err = fmt.Errorf("cannot wait for %v: %w", m.dev.place, err)
			}
			freed = m.poll() // what came before
		}
		over := m.stopped || m.err != nil || len(m.posted) == 0
		m.draining = !over || m.err != nil // no other goroutine after a failure
		err, fd := m.err, 0
		if !over {
			fd = m.queue.FD()
		}
		stopped := m.stopped
		m.mu.Unlock()
		if !stopped && (freed > 0 || err != nil) {
			m.arrived(err)
		}
		switch {
		case over:
			return
		case freed == 0:
			m.wait(fd)
		}
	}
}

// wait waits until the device reports a completion, for lookEvery at most.
func (m *Memory) wait(fd int) {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	_, _ = unix.Poll(fds, int(lookEvery.Milliseconds())) // any result leads to another look
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.stopped && fds[0].Revents != 0 {
		m.queue.Silence()
	}
}

// poll takes completions and returns the number of updates that have arrived. The lock is held.
func (m *Memory) poll() (freed int) {
	var done [16]verbs.Completion
	for m.err == nil && !m.stopped {
		n, err := m.queue.Poll(done[:])
		if err != nil {
			m.err = fmt.Errorf("polling %v: %w", m.dev.place, err)
		}
		for _, c := range done[:n] {
			if c.Status != verbs.Success {
				m.err = &verbs.Error{Place: m.dev.place, Op: verbs.OpWrite, Status: c.Status, Vendor: c.Vendor}
				return freed
			}
			if b := m.posted[0].free; b != nil {
				b.busy = false
				freed++
			}
			m.posted = m.posted[:copy(m.posted, m.posted[1:])]
		}
		m.pump()
		if n < len(done) {
			return freed
		}
	}
	return freed
}

// Stop closes the queue pair and deregisters all memory.
func (m *Memory) Stop() {
	m.mu.Lock()
	m.stopped = true
	m.mu.Unlock()
	m.work.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.queue != nil {
		_ = m.queue.Close() // what it has not written is not read
		m.queue = nil
	}
	for _, r := range m.regions {
		_ = r.Close() // its owner frees the memory
	}
	m.regions, m.queued, m.posted = nil, nil, nil
}
