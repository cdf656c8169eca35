// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"unsafe"
)

// reduce takes t through the segment. When all have brought in the first piece the ranks compare
// their calls. False: the job has failed, or ctx has ended.
func (s *shared) reduce(ctx context.Context, t *task) bool {
	switch {
	case len(t.dst) <= sharedSmall:
		return s.reduceSmall(ctx, t)
	case s.homes[s.rank].src == nil:
		return s.flow(ctx, t, s.turn, false)
	}
	// Where all vectors lie is known when all have come, and there is nothing to do until then.
	first := s.turn + 1
	s.post(arrived, first)
	if !s.await(ctx, arrived, first) || !s.meet(len(t.dst)) {
		return false
	}
	for _, h := range s.homes {
		if h.src == nil || h.dst == nil {
			return s.flow(ctx, t, first, true)
		}
	}
	return s.reduceAtHome(ctx, t)
}

// reduceSmall is reduce for a vector so short that each rank sums all of it.
func (s *shared) reduceSmall(ctx context.Context, t *task) bool {
	n := len(t.dst)
	now := s.turn + 1
	slot := now % sharedDepth
	if now > sharedDepth && !s.await(ctx, taken, now-sharedDepth) {
		return false
	}
	me := &s.places[s.rank]
	copy(me.buffers[slot], t.src)
	s.post(arrived, now)
	if !s.await(ctx, arrived, now) || !s.meet(n) {
		return false
	}
	for r := range s.places {
		s.from[r] = unsafe.Pointer(&s.places[r].buffers[slot][0])
	}
	s.to = append(s.to[:0], unsafe.Pointer(&t.dst[0]))
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
func (s *shared) reduceAtHome(ctx context.Context, t *task) bool {
	now, n := s.turn+1, len(t.dst)
	s.to = s.to[:0]
	for r, h := range s.homes {
		s.from[r] = h.src
		s.to = append(s.to, h.dst)
	}
	lo, hi := s.share(n, s.rank)
	s.summer.over(t, lo, hi, 0, s.from, s.to)
	s.post(summed, now)
	if !s.await(ctx, summed, now) {
		return false
	}
	s.places[s.rank].steps[taken].Store(now)
	s.turn = now
	s.en.arrived(n)
	return true
}

// flow takes t through the segment piece by piece. A rank does what it can: it copies out
// what is summed, else it sums a share of what all have brought in, else it brings in
// the next piece. in is the turn of the last piece it has brought in already.
func (s *shared) flow(ctx context.Context, t *task, in uint64, met bool) bool {
	base := s.turn
	last := base + uint64((len(t.dst)+s.piece-1)/s.piece)
	sum, out := base, base
	for out < last {
		var w want
		if out < sum {
			w[summed] = out + 1
		}
		if sum < in {
			w[arrived] = sum + 1
		}
		if in < last {
			w[taken] = max(in+1, sharedDepth) - sharedDepth
		}
		switch {
		case w[summed] > 0 && s.reached(summed, w[summed]):
			out++
			s.takeOut(t, base, out)
			s.turn = out
			s.post(taken, out)
		case w[arrived] > 0 && s.reached(arrived, w[arrived]):
			if !met && !s.meet(len(t.dst)) {
				return false
			}
			met = true
			sum++
			s.sumShare(t, base, sum)
			s.post(summed, sum)
		case in < last && s.reached(taken, w[taken]):
			in++
			s.bringIn(t, base, in)
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
func (s *shared) part(n int, base, turn uint64) (lo, hi int) {
	lo = int(turn-base-1) * s.piece
	return lo, min(lo+s.piece, n)
}

// bringIn copies a piece into this rank's buffer, but for its own share.
func (s *shared) bringIn(t *task, base, turn uint64) {
	if s.homes[s.rank].src != nil {
		return
	}
	lo, hi := s.part(len(t.src), base, turn)
	from, to := s.share(hi-lo, s.rank)
	mine := s.places[s.rank].buffers[turn%sharedDepth]
	copy(mine, t.src[lo:lo+from])
	copy(mine[to:], t.src[lo+to:hi])
}

// sumShare sums this rank's share of a piece, for itself, for who has its result in the
// arena, and for the others into this rank's buffer.
func (s *shared) sumShare(t *task, base, turn uint64) {
	lo, hi := s.part(len(t.src), base, turn)
	from, to := s.share(hi-lo, s.rank)
	slot := turn % sharedDepth
	s.to = append(s.to[:0], unsafe.Pointer(&t.dst[lo]))
	wanted := false
	for r := range s.places {
		h := &s.homes[r]
		switch {
		case r == s.rank:
			s.from[r] = unsafe.Pointer(&t.src[lo])
			continue
		case h.src != nil:
			s.from[r] = unsafe.Add(h.src, lo)
		default:
			s.from[r] = unsafe.Pointer(&s.places[r].buffers[slot][0])
		}
		if h.dst != nil {
			s.to = append(s.to, unsafe.Add(h.dst, lo))
		} else {
			wanted = true
		}
	}
	if wanted {
		s.to = append(s.to, unsafe.Pointer(&s.places[s.rank].buffers[slot][0]))
	}
	s.summer.over(t, lo+from, lo+to, lo, s.from, s.to)
}

// takeOut copies the others' shares of a piece out.
func (s *shared) takeOut(t *task, base, turn uint64) {
	lo, hi := s.part(len(t.dst), base, turn)
	for r := range s.places {
		if from, to := s.share(hi-lo, r); r != s.rank && s.homes[s.rank].dst == nil {
			copy(t.dst[lo+from:lo+to], s.places[r].buffers[turn%sharedDepth][from:to])
		}
	}
	s.en.arrived(hi - lo)
}

// share is the part of n bytes that a rank sums. Cuts fall on cache lines, and so
// between elements.
func (s *shared) share(n, rank int) (lo, hi int) {
	ranks := len(s.places)
	if rank+1 < ranks {
		hi = n / cacheLine * (rank + 1) / ranks * cacheLine
	} else {
		hi = n
	}
	return n / cacheLine * rank / ranks * cacheLine, hi
}
