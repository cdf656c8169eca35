// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/shm"
)

var errNotReady = errors.New("allreduce: Alloc before Ready: it is not known yet whether the ranks share memory")

// Alloc returns a slice of n zeros in the memory that suits the job's transport:
//
//   - If the ranks share memory (Group.SharedMemory), the slice is part of it. An
//     all-reduce then copies nothing in or out: the other ranks add from the slice, and
//     write the result to it.
//   - If bytes go over verbs, the memory is registered, and is sent without a copy.
//   - Otherwise, and if that memory is exhausted, it is an ordinary slice. The log has a
//     warning in the second case.
//
// The results have the same bits in all cases, and only some ranks may use Alloc.
//
// It is called after Ready. The slice and all its subslices are valid until Close, which
// unmaps the memory: a later access is a memory fault. After a failed collective other
// ranks may write to its vector until they too have failed.
func Alloc[T Element](g *Group, n int) ([]T, error) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if n < 0 || n > math.MaxInt/size {
		panic(fmt.Sprintf("BUG: allreduce: Alloc of %d elements", n))
	}
	switch {
	case g.isClosed():
		return nil, ErrClosed
	case g.epoch.Wiring == nil:
		return nil, errNotReady
	}
	s := g.epoch.Shared()
	if n == 0 {
		return make([]T, n), nil
	}
	if s == nil {
		if b := g.allocRegistered(n * size); b != nil {
			return kernels.View[T](b), nil
		}
		return make([]T, n), nil
	}
	b, err := s.Alloc(n * size)
	switch {
	case errors.Is(err, shm.ErrClosed):
		return nil, ErrClosed
	case err != nil:
		g.log.Warn("Alloc has no shared memory for a slice: it is in ordinary memory", "rank", g.cfg.Rank, "bytes", n*size, "error", err)
		return make([]T, n), nil
	}
	return kernels.View[T](b), nil
}

// allocRegistered returns n bytes from which the RDMA device may send. It returns nil if there
// is no device, or, with a warning in the log, if the device refuses the memory.
func (g *Group) allocRegistered(n int) []byte {
	if g.Verbs() == "" {
		return nil
	}
	b, err := g.device.Alloc(n)
	if err != nil {
		g.log.Warn("Alloc: the memory cannot be registered, it will be copied to be sent", "rank", g.cfg.Rank, "bytes", n, "error", err)
		return nil
	}
	return b
}

// Register lets collectives send from v without a copy if bytes go over verbs, until
// Unregister or Close. Otherwise it does nothing. Vectors from Alloc are registered already.
// Other ranks get no access to v. Each epoch registers v again: if the device then refuses
// it, v is copied as before, and the log has a warning.
//
// Registered memory is locked and counts against RLIMIT_MEMLOCK.
func (g *Group) Register(v Vector) error {
	switch {
	case v.Len() == 0:
		return nil
	case g.isClosed():
		return ErrClosed
	}
	if err := g.device.Register(v.bytes()); err != nil {
		return fmt.Errorf("rank %d: %w", g.cfg.Rank, err)
	}
	return nil
}

// Unregister undoes the Register of v. It must not be called during a collective.
func (g *Group) Unregister(v Vector) error {
	if v.Len() == 0 {
		return nil
	}
	return g.device.Unregister(v.bytes())
}

// SharedMemory reports whether all ranks run on one machine and all-reduce in shared memory.
// It is valid after Ready.
func (g *Group) SharedMemory() bool { return len(g.SharedWith()) == g.Size() && g.Size() > 1 }

// SharedWith returns the ranks that share memory with this one, itself included; nil if this
// rank shares none. In a job of several machines these ranks first sum among themselves,
// wherever the schedule's order of additions permits it. It is valid after Ready.
func (g *Group) SharedWith() []int {
	if s := g.epoch.Shared(); s != nil {
		return slices.Clone(s.Ranks)
	}
	return nil
}

// Verbs returns the RDMA device over which this rank's bytes go to other machines; "" if they go
// over TCP. It is valid after Ready.
func (g *Group) Verbs() string { return g.device.String() }
