// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"math/bits"

	"github.com/gvw-project/gvw/allreduce/schedule"
)

// task is what is to be reduced in a segment.
type task struct {
	kind     Kind
	op       Op
	dst, src []byte
	sums     []schedule.Sum
}

// reduce takes t through the segment. With the first piece the ranks compare their
// calls. False: the job has failed, or ctx has ended.
func (s *shared) reduce(ctx context.Context, t *task) bool {
	for at := 0; at < len(t.dst); at += s.piece {
		n := min(s.piece, len(t.dst)-at)
		dst, src := t.dst[at:at+n], t.src[at:at+n]
		b := s.turn & 1
		s.turn++
		mine := s.places[s.rank].buffers[b]
		lo, hi := s.share(n, s.rank)
		if n <= sharedSmall {
			lo, hi = 0, 0 // the others need all of it
		}
		copy(mine, src[:lo])
		copy(mine[hi:], src[hi:])
		s.post(s.places[s.rank].arrived, s.turn)
		if !s.await(ctx, false, s.turn) || at == 0 && !s.meet() {
			return false
		}
		s.sum.task, s.sum.at, s.sum.buffer = t, at, b
		if n <= sharedSmall {
			s.sum.over(0, n, s.small)
			copy(dst, s.small)
			s.en.arrived(n)
			continue
		}
		s.sum.over(lo, hi, mine[lo:hi])
		copy(dst[lo:hi], mine[lo:hi])
		s.post(s.places[s.rank].summed, s.turn)
		if !s.await(ctx, true, s.turn) {
			return false
		}
		for r := range s.places {
			if lo, hi := s.share(n, r); r != s.rank {
				copy(dst[lo:hi], s.places[r].buffers[b][lo:hi])
			}
		}
		s.en.arrived(n)
	}
	return true
}

// blockSum evaluates sums over what the ranks have brought in, a block at a time.
type blockSum struct {
	rank   int // whose contribution is still where the caller has it
	places []sharedPlace

	task   *task
	at     int    // where in the vector the piece begins
	buffer uint64 // which one of each rank it is in

	stack []operand
	temps [][]byte
	used  uint64 // which of temps are
}

// operand is a contribution, or what some have been joined to.
type operand struct {
	data []byte
	temp int // its number; ofRank
}

const (
	ofRank = -1
	inOut  = 0 // the result's own place serves as the first of temps
)

// over sums the bytes lo … hi of the piece into out.
func (s *blockSum) over(lo, hi int, out []byte) {
	for i := range s.task.sums {
		x := &s.task.sums[i]
		end := min(x.Hi-s.at, hi)
		for from := max(x.Lo-s.at, lo); from < end; from += sharedBlock {
			to := min(from+sharedBlock, end)
			s.block(x.Expr, from, to, out[from-lo:to-lo])
		}
	}
}

func (s *blockSum) block(expr []int32, lo, hi int, out []byte) {
	s.stack, s.used = s.stack[:0], 0
	for _, x := range expr {
		if x != schedule.Join {
			s.stack = append(s.stack, operand{s.brought(int(x), lo, hi), ofRank})
			continue
		}
		top := len(s.stack) - 1
		s.stack[top-1] = s.join(s.stack[top-1], s.stack[top], out)
		s.stack = s.stack[:top]
	}
	if s.stack[0].temp != inOut {
		copy(out, s.stack[0].data)
	}
}

// brought is a rank's contribution.
func (s *blockSum) brought(rank, lo, hi int) []byte {
	if rank == s.rank {
		return s.task.src[s.at+lo : s.at+hi]
	}
	return s.places[rank].buffers[s.buffer][lo:hi]
}

// join joins two operands, in the place of one of them if it is not a contribution.
func (s *blockSum) join(a, b operand, out []byte) operand {
	c := a
	switch {
	case a.temp == ofRank && b.temp == ofRank:
		c = s.temp(out)
	case a.temp == ofRank, b.temp == inOut:
		c = b
	}
	for _, x := range [2]operand{a, b} {
		if x.temp != ofRank && x.temp != c.temp {
			s.used &^= 1 << x.temp
		}
	}
	combine(s.task.kind, s.task.op, c.data, a.data, b.data)
	return c
}

// temp is a place for a block: out, as long as it is free.
func (s *blockSum) temp(out []byte) operand {
	k := bits.TrailingZeros64(^s.used)
	s.used |= 1 << k
	if k == inOut {
		return operand{out, k}
	}
	for len(s.temps) < k {
		s.temps = append(s.temps, make([]byte, sharedBlock))
	}
	return operand{s.temps[k-1][:len(out)], k}
}
