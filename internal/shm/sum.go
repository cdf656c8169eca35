// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"unsafe"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/kernels"
)

// Task is what is to be reduced in a segment.
type Task struct {
	Kind     kernels.Kind
	Op       kernels.Op
	Dst, Src []byte
	Programs []Program
	Part     bool              // the ranks of this host sum a part, and other hosts follow
	Among    *schedule.Program // then, on the leader: the program with the leaders of the other hosts
}

// summer sums vectors that lie in the memory of several ranks, block by block, so that operands and
// temporary sums stay in the innermost cache.
type summer struct {
	temps [][]byte         // of Block
	ops   []unsafe.Pointer // the operands of a sum
	dsts  []unsafe.Pointer // where its result goes
	acc   []byte           // of Block
}

// over sums the bytes lo … hi-1 of a vector. from are the contributions by rank, to the
// places of the result; both begin at the byte base of the vector.
func (s *summer) over(t *Task, lo, hi, base int, from, to []unsafe.Pointer) {
	for i := range t.Programs {
		c := &t.Programs[i]
		end := min(c.hi, hi)
		block := Block
		if len(c.sums) == 1 && t.Op == kernels.Sum {
			block = max(end-lo, 1) // nothing is kept on the way
		}
		for at := max(c.lo, lo); at < end; at += block {
			s.block(t, c, at-base, min(block, end-at), from, to)
		}
	}
}

// block sums n bytes from at on.
func (s *summer) block(t *Task, c *Program, at, n int, from, to []unsafe.Pointer) {
	for len(s.temps) < c.temps {
		s.temps = append(s.temps, make([]byte, Block))
	}
	for i := range c.sums {
		f := &c.sums[i]
		s.ops, s.dsts = s.ops[:0], s.dsts[:0]
		for _, x := range f.of {
			if x < 0 {
				s.ops = append(s.ops, unsafe.Pointer(&s.temps[^x][0]))
			} else {
				s.ops = append(s.ops, unsafe.Add(from[x], at))
			}
		}
		if f.into >= 0 {
			s.dsts = append(s.dsts, unsafe.Pointer(&s.temps[f.into][0]))
		} else {
			for _, p := range to {
				s.dsts = append(s.dsts, unsafe.Add(p, at))
			}
		}
		if t.Op == kernels.Sum {
			kernels.Fold(t.Kind, s.dsts, s.ops, n)
		} else {
			s.reduce(t, n)
		}
	}
}

// reduce is the sum of n bytes for operations that have no kernel for several operands.
func (s *summer) reduce(t *Task, n int) {
	if s.acc == nil {
		s.acc = make([]byte, Block)
	}
	acc := s.acc[:n]
	a := unsafe.Slice((*byte)(s.ops[0]), n)
	for _, p := range s.ops[1:] {
		kernels.Combine(t.Kind, t.Op, acc, a, unsafe.Slice((*byte)(p), n))
		a = acc
	}
	for _, p := range s.dsts {
		copy(unsafe.Slice((*byte)(p), n), a)
	}
}

// forget drops the caller's memory.
func (s *summer) forget() {
	clear(s.ops[:cap(s.ops)])
	clear(s.dsts[:cap(s.dsts)])
}
