// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"context"
	"unsafe"
)

// reduce takes t through the segment. When all ranks have brought in the first piece they compare
// their calls. It returns false if the job has failed, or ctx has ended.
func (s *Group) reduce(ctx context.Context, t *Task) bool {
	if t.Part {
		return s.reduceHost(ctx, t)
	}
	switch {
	case len(t.Dst) <= Small:
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

// assemble is for a rank that need not bring its vector in. It waits until all ranks have arrived: then
// it is known where their vectors are.
func (s *Group) assemble(ctx context.Context, t *Task, first uint64) bool {
	s.post(arrived, first)
	return s.await(ctx, arrived, first) && s.meet(len(t.Dst))
}

// reduceHost is reduce in a job with other hosts: the ranks of this host sum their part, the
// leader joins it with the parts of the other hosts, and all take the result from the leader.
func (s *Group) reduceHost(ctx context.Context, t *Task) bool {
	in, met := s.turn, false
	if s.homes[s.self].src != nil {
		in, met = s.turn+1, true
		if !s.assemble(ctx, t, in) {
			return false
		}
	}
	return s.flow(ctx, t, upward, in, met) &&
		(t.Among == nil || s.owner.InterHost(ctx, t.Among, t.Dst)) &&
		s.flow(ctx, t, down, s.turn, true)
}

// reduceSmall is reduce for a vector so short that each rank sums all of it.
func (s *Group) reduceSmall(ctx context.Context, t *Task) bool {
	n := len(t.Dst)
	now := s.turn + 1
	slot := now % Depth
	if now > Depth && !s.await(ctx, taken, now-Depth) {
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
	// No wake-up is needed here: the next piece wakes all waiters.
	me.steps[summed].Store(now)
	me.steps[taken].Store(now)
	s.turn = now
	s.owner.Progress(n)
	return true
}

// reduceAtHome is reduce where all vectors lie in the arena: each rank sums its share, and writes
// it to the results of all ranks.
func (s *Group) reduceAtHome(ctx context.Context, t *Task) bool {
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
	s.owner.Progress(n)
	return true
}

// phase is the direction of a flow. A collective of one host has the phase through; one that
// other hosts join has upward, then down.
type phase int

const (
	through phase = iota // every rank's vector, to every rank
	upward               // every rank's vector, to the leader
	down                 // the leader's result, to every rank
)

// brings reports whether a rank brings pieces in.
func (p phase) brings(leader bool) bool { return p != down || leader }

// sums reports whether ranks sum pieces.
func (p phase) sums() bool { return p != down }

// takes reports whether a rank takes pieces out.
func (p phase) takes(leader bool) bool {
	switch p {
	case upward:
		return leader
	case down:
		return !leader
	}
	return true
}

// cursor is how far this rank has come in a flow, in turns: the last pieces that it has brought in,
// summed and taken out. base is the turn before the first piece, and last that of the last one.
// Always base ≤ out ≤ sum ≤ in ≤ last.
type cursor struct {
	base, out, sum, in, last uint64
}

// wants returns what this rank waits for, to do any next step.
func (c *cursor) wants(sums, takes bool) (w goal) {
	if c.out < c.sum && takes {
		w[summed] = c.out + 1
	}
	if c.sum < c.in && sums {
		w[arrived] = c.sum + 1
	}
	if c.in < c.last {
		w[taken] = max(c.in+1, Depth) - Depth
	}
	return w
}

// flow takes t through the segment piece by piece. A rank does what it can: it copies out what is
// summed, or else it sums a share of what all have brought in, or else it brings in the next
// piece. in is the turn of the last piece that it has brought in already. met: the ranks have
// compared their headers. It returns false if the job has failed, or ctx has ended.
func (s *Group) flow(ctx context.Context, t *Task, ph phase, in uint64, met bool) bool {
	c := cursor{base: s.turn, out: s.turn, sum: s.turn, in: in}
	c.last = c.base + uint64((len(t.Dst)+s.piece-1)/s.piece)
	leader := s.self == 0
	sums, takes := ph.sums(), ph.takes(leader)
	if !ph.brings(leader) { // the others need nothing from here
		c.in, c.sum = c.last, c.last
		s.post(arrived, c.last)
		s.post(summed, c.last)
	}
	for c.out < c.last {
		w := c.wants(sums, takes)
		switch {
		case c.out < c.sum && (!takes || s.reached(summed, w[summed])):
			c.out++
			if takes {
				s.takeOut(t, ph, c.base, c.out)
			}
			s.turn = c.out
			s.post(taken, c.out)
		case c.sum < c.in && (!sums || s.reached(arrived, w[arrived])):
			if !met && !s.meet(len(t.Dst)) {
				return false
			}
			met = true
			c.sum++
			if sums {
				s.sumShare(t, ph, c.base, c.sum)
			}
			s.post(summed, c.sum)
		case c.in < c.last && s.reached(taken, w[taken]):
			c.in++
			s.bringIn(t, ph, c.base, c.in)
			s.post(arrived, c.in)
		default:
			if !s.awaitAny(ctx, &w) {
				return false
			}
		}
	}
	return true
}

// part returns where in a vector of n bytes the piece of a turn lies.
func (s *Group) part(n int, base, turn uint64) (lo, hi int) {
	lo = int(turn-base-1) * s.piece
	return lo, min(lo+s.piece, n)
}

// bringIn copies a piece into this rank's buffer, but for its own share.
func (s *Group) bringIn(t *Task, ph phase, base, turn uint64) {
	lo, hi := s.part(len(t.Src), base, turn)
	from, to := s.share(hi-lo, s.self)
	mine := s.places[s.self].buffers[turn%Depth]
	switch {
	case ph == down:
		copy(mine, t.Dst[lo:hi])
	case s.homes[s.self].src == nil:
		copy(mine, t.Src[lo:lo+from])
		copy(mine[to:], t.Src[lo+to:hi])
	}
}

// sumShare sums this rank's share of a piece: into its own result, into the results that lie in the
// arena, and for the other ranks into this rank's buffer.
func (s *Group) sumShare(t *Task, ph phase, base, turn uint64) {
	lo, hi := s.part(len(t.Src), base, turn)
	from, to := s.share(hi-lo, s.self)
	slot := turn % Depth
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

// takeOut copies the shares of a piece that the other ranks have summed, or what the leader has
// brought down.
func (s *Group) takeOut(t *Task, ph phase, base, turn uint64) {
	lo, hi := s.part(len(t.Dst), base, turn)
	slot := turn % Depth
	s.owner.Progress(hi - lo)
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

// share returns the part of n bytes that a rank sums. Cuts fall on cache lines, and so
// between elements.
func (s *Group) share(n, rank int) (lo, hi int) {
	ranks := len(s.places)
	if rank+1 < ranks {
		hi = n / cacheLine * (rank + 1) / ranks * cacheLine
	} else {
		hi = n
	}
	return n / cacheLine * rank / ranks * cacheLine, hi
}
