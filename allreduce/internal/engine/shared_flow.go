// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"unsafe"
)

// reduce takes t through the segment. When all have brought in the first piece the ranks
// compare their calls. False: the job has failed, or ctx has ended.
func (s *Shared) reduce(ctx context.Context, t *Task) bool {
	if t.Part {
		return s.reduceHost(ctx, t)
	}
	switch {
	case len(t.Dst) <= SharedSmall:
		return s.reduceSmall(ctx, t)
	case s.homes[s.self].src == nil:
		return s.flow(ctx, t, through, s.turn, false)
	}
	first := s.turn + 1
	if !s.assemble(ctx, t, first) {
		return false
	}
	for _, h := range s.homes {
		if h.src == nil || h.dst == nil {
			return s.flow(ctx, t, through, first, true)
		}
	}
	return s.reduceAtHome(ctx, t)
}

// assemble is for a rank that need not bring its vector in. Where the others have theirs is
// known when all have come, and there is nothing to do until then.
func (s *Shared) assemble(ctx context.Context, t *Task, first uint64) bool {
	s.post(arrived, first)
	return s.await(ctx, arrived, first) && s.meet(len(t.Dst))
}

// reduceHost is reduce in a job with other machines: the ranks of this one sum their part,
// the first one of them joins it with the others', and all get the result from it.
func (s *Shared) reduceHost(ctx context.Context, t *Task) bool {
	in, met := s.turn, false
	if s.homes[s.self].src != nil {
		in, met = s.turn+1, true
		if !s.assemble(ctx, t, in) {
			return false
		}
	}
	return s.flow(ctx, t, upward, in, met) &&
		(t.Among == nil || s.en.amid(ctx, t.Among, t.Dst)) &&
		s.flow(ctx, t, down, s.turn, true)
}

// reduceSmall is reduce for a vector so short that each rank sums all of it.
func (s *Shared) reduceSmall(ctx context.Context, t *Task) bool {
	n := len(t.Dst)
	now := s.turn + 1
	slot := now % SharedDepth
	if now > SharedDepth && !s.await(ctx, taken, now-SharedDepth) {
		return false
	}
	me := &s.places[s.self]
	copy(me.buffers[slot], t.Src)
	s.post(arrived, now)
	if !s.await(ctx, arrived, now) || !s.meet(n) {
		return false
	}
	for r := range s.places {
		s.from[r] = unsafe.Pointer(&s.places[r].buffers[slot][0])
	}
	s.to = append(s.to[:0], unsafe.Pointer(&t.Dst[0]))
	s.summer.over(t, 0, n, 0, s.from, s.to)
	// Who waits for that waits for this rank's next piece too, which rings.
	me.steps[summed].Store(now)
	me.steps[taken].Store(now)
	s.turn = now
	s.en.arrived(n)
	return true
}

// reduceAtHome is reduce where all vectors lie in the arena: each rank sums its share, and
// leaves it with all.
func (s *Shared) reduceAtHome(ctx context.Context, t *Task) bool {
	now, n := s.turn+1, len(t.Dst)
	s.to = s.to[:0]
	for r, h := range s.homes {
		s.from[r] = h.src
		s.to = append(s.to, h.dst)
	}
	lo, hi := s.share(n, s.self)
	s.summer.over(t, lo, hi, 0, s.from, s.to)
	s.post(summed, now)
	if !s.await(ctx, summed, now) {
		return false
	}
	s.places[s.self].steps[taken].Store(now)
	s.turn = now
	s.en.arrived(n)
	return true
}

// phase is what a flow is for.
type phase int

const (
	through phase = iota // everybody's vectors, to everybody
	upward               // to who leads
	down                 // from there
)

// flow takes t through the segment piece by piece. A rank does what it can: it copies out
// what is summed, else it sums a share of what all have brought in, else it brings in
// the next piece. in is the turn of the last piece it has brought in already.
func (s *Shared) flow(ctx context.Context, t *Task, ph phase, in uint64, met bool) bool {
	base := s.turn
	last := base + uint64((len(t.Dst)+s.piece-1)/s.piece)
	sum, out := base, base
	sums := ph != down
	takes := ph == through || (s.self == 0) == (ph == upward)
	if ph == down && takes { // the others need nothing from here
		in, sum = last, last
		s.post(arrived, last)
		s.post(summed, last)
	}
	for out < last {
		var w goal
		if out < sum && takes {
			w[summed] = out + 1
		}
		if sum < in && sums {
			w[arrived] = sum + 1
		}
		if in < last {
			w[taken] = max(in+1, SharedDepth) - SharedDepth
		}
		switch {
		case out < sum && (!takes || s.reached(summed, w[summed])):
			out++
			if takes {
				s.takeOut(t, ph, base, out)
			}
			s.turn = out
			s.post(taken, out)
		case sum < in && (!sums || s.reached(arrived, w[arrived])):
			if !met && !s.meet(len(t.Dst)) {
				return false
			}
			met = true
			sum++
			if sums {
				s.sumShare(t, ph, base, sum)
			}
			s.post(summed, sum)
		case in < last && s.reached(taken, w[taken]):
			in++
			s.bringIn(t, ph, base, in)
			s.post(arrived, in)
		default:
			if !s.awaitAny(ctx, &w) {
				return false
			}
		}
	}
	return true
}

// part is where in a vector of n bytes the piece of a turn lies.
func (s *Shared) part(n int, base, turn uint64) (lo, hi int) {
	lo = int(turn-base-1) * s.piece
	return lo, min(lo+s.piece, n)
}

// bringIn copies a piece into this rank's buffer, but for its own share.
func (s *Shared) bringIn(t *Task, ph phase, base, turn uint64) {
	lo, hi := s.part(len(t.Src), base, turn)
	from, to := s.share(hi-lo, s.self)
	mine := s.places[s.self].buffers[turn%SharedDepth]
	switch {
	case ph == down:
		copy(mine, t.Dst[lo:hi])
	case s.homes[s.self].src == nil:
		copy(mine, t.Src[lo:lo+from])
		copy(mine[to:], t.Src[lo+to:hi])
	}
}

// sumShare sums this rank's share of a piece, for itself, for who has its result in the
// arena, and for the others into this rank's buffer.
func (s *Shared) sumShare(t *Task, ph phase, base, turn uint64) {
	lo, hi := s.part(len(t.Src), base, turn)
	from, to := s.share(hi-lo, s.self)
	slot := turn % SharedDepth
	own, others := ph == through || s.self == 0, ph == upward && s.self > 0
	s.to = s.to[:0]
	if own {
		s.to = append(s.to, unsafe.Pointer(&t.Dst[lo]))
	}
	for r := range s.places {
		h := &s.homes[r]
		switch {
		case r == s.self:
			s.from[r] = unsafe.Pointer(&t.Src[lo])
			continue
		case h.src != nil:
			s.from[r] = unsafe.Add(h.src, lo)
		default:
			s.from[r] = unsafe.Pointer(&s.places[r].buffers[slot][0])
		}
		switch {
		case ph == upward:
		case h.dst != nil:
			s.to = append(s.to, unsafe.Add(h.dst, lo))
		default:
			others = true
		}
	}
	if others {
		s.to = append(s.to, unsafe.Pointer(&s.places[s.self].buffers[slot][0]))
	}
	s.summer.over(t, lo+from, lo+to, lo, s.from, s.to)
}

// takeOut copies what others have summed of a piece, or who leads has brought down.
func (s *Shared) takeOut(t *Task, ph phase, base, turn uint64) {
	lo, hi := s.part(len(t.Dst), base, turn)
	slot := turn % SharedDepth
	s.en.arrived(hi - lo)
	if ph == down {
		copy(t.Dst[lo:hi], s.places[0].buffers[slot])
		return
	}
	if ph == through && s.homes[s.self].dst != nil {
		return // they have left it there
	}
	for r := range s.places {
		if from, to := s.share(hi-lo, r); r != s.self {
			copy(t.Dst[lo+from:lo+to], s.places[r].buffers[slot][from:to])
		}
	}
}

// share is the part of n bytes that a rank sums. Cuts fall on cache lines, and so
// between elements.
func (s *Shared) share(n, rank int) (lo, hi int) {
	ranks := len(s.places)
	if rank+1 < ranks {
		hi = n / cacheLine * (rank + 1) / ranks * cacheLine
	} else {
		hi = n
	}
	return n / cacheLine * rank / ranks * cacheLine, hi
}
