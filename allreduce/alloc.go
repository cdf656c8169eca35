// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/gvw-project/gvw/allreduce/verbs"
)

var errNotReady = errors.New("allreduce: Alloc before Ready: it is not known yet whether the ranks share memory")

// Alloc makes a slice of n zeros. Where the ranks share memory (Group.SharedMemory) it lies
// there, so that an all-reduce copies nothing in or out: the other ranks add from it, and leave
// the result in it. Elsewhere, and where there is not that much shared memory, which
// the log tells, it is a slice like any other; where bytes go over verbs, it is registered,
// and sent without a copy. The results have the same bits either
// way, and ranks may differ in whether their vectors are from Alloc.
//
// It is called after Ready. The slice, and all that is cut from it, lives until
// Close: the memory is given back then, and who touches it afterwards ends by a fault. After
// a failed collective other ranks may write to its vector until they too have failed.
func Alloc[T Element](g *Group, n int) ([]T, error) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if n < 0 || n > maxInt/size {
		panic(fmt.Sprintf("BUG: allreduce: Alloc of %d elements", n))
	}
	switch {
	case g.isClosed():
		return nil, ErrClosed
	case g.wiring == nil:
		return nil, errNotReady
	}
	s := g.sharing()
	if n == 0 {
		return make([]T, n), nil
	}
	if s == nil {
		if b := g.allocRegistered(n * size); b != nil {
			return view[T](b), nil
		}
		return make([]T, n), nil
	}
	b, err := s.alloc(n * size)
	switch {
	case errors.Is(err, ErrClosed):
		return nil, err
	case err != nil:
		g.log.Warn("Alloc: no shared memory, a slice like any other instead", "rank", g.cfg.Rank, "bytes", n*size, "error", err)
		return make([]T, n), nil
	}
	return view[T](b), nil
}

const maxInt = int(^uint(0) >> 1)

// alloc takes n bytes of this rank's part of the arena.
func (s *shared) alloc(n int) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	page := os.Getpagesize()
	part := len(s.arena) / len(s.places) / page * page
	if left := part - s.given; n > left {
		return nil, fmt.Errorf("%d bytes of addresses are left to this rank", left)
	}
	lo := s.self*part + s.given
	hi := lo + (n+page-1)/page*page
	if err := s.seg.Back(lo, hi); err != nil {
		return nil, err
	}
	s.given += hi - lo
	return s.arena[lo : lo+n : lo+n], nil
}

// allocRegistered is n bytes that a device may send from; nil: there is none, or it does
// not take them, which the log tells.
func (g *Group) allocRegistered(n int) []byte {
	if g.Verbs() == "" {
		return nil
	}
	b, err := verbs.NewMemory(n)
	if err == nil {
		if err = g.pin(&pin{mem: b, ours: true}); err == nil {
			return b
		}
		err = errors.Join(err, verbs.FreeMemory(b))
	}
	g.log.Warn("Alloc: the memory cannot be registered, it will be copied to be sent", "rank", g.cfg.Rank, "bytes", n, "error", err)
	return nil
}
