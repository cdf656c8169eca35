// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"unsafe"

	"github.com/gvw-project/gvw/allreduce/schedule"
)

// task is what is to be reduced in a segment.
type task struct {
	kind     Kind
	op       Op
	dst, src []byte
	codes    []sumCode
	part     bool              // of a job that has other machines
	among    *schedule.Program // then, of who leads this one, with those who lead the others
}

// summer sums what lies in the memory of several ranks.
type summer struct {
	temps [][]byte         // of sharedBlock
	ops   []unsafe.Pointer // the operands of a fold
	dsts  []unsafe.Pointer // where its result goes
	acc   []byte           // of sharedBlock
}

// over sums the bytes lo … hi-1 of a vector. from are the contributions by rank, to the
// places of the result; both begin at the byte base of the vector.
func (s *summer) over(t *task, lo, hi, base int, from, to []unsafe.Pointer) {
	for i := range t.codes {
		c := &t.codes[i]
		end := min(c.hi, hi)
		block := sharedBlock
		if len(c.folds) == 1 && t.op == Sum {
			block = max(end-lo, 1) // nothing is kept on the way
		}
		for at := max(c.lo, lo); at < end; at += block {
			s.block(t, c, at-base, min(block, end-at), from, to)
		}
	}
}

// block sums n bytes from at on.
func (s *summer) block(t *task, c *sumCode, at, n int, from, to []unsafe.Pointer) {
	for len(s.temps) < c.temps {
		s.temps = append(s.temps, make([]byte, sharedBlock))
	}
	for i := range c.folds {
		f := &c.folds[i]
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
		if t.op == Sum {
			fold(t.kind, s.dsts, s.ops, n)
		} else {
			s.reduce(t, n)
		}
	}
}

// reduce is fold for other operations.
func (s *summer) reduce(t *task, n int) {
	if s.acc == nil {
		s.acc = make([]byte, sharedBlock)
	}
	acc := s.acc[:n]
	a := unsafe.Slice((*byte)(s.ops[0]), n)
	for _, p := range s.ops[1:] {
		combine(t.kind, t.op, acc, a, unsafe.Slice((*byte)(p), n))
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
