// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// shape is an in-order tree given by the size of the left subtrees.
type shape struct{ parent, left, right []int }

func newShape(n int, left func(count int) int) shape {
	s := shape{make([]int, n), make([]int, n), make([]int, n)}
	var grow func(lo, hi, parent int) int
	grow = func(lo, hi, parent int) int {
		if lo == hi {
			return None
		}
		r := lo + left(hi-lo)
		s.parent[r] = parent
		s.left[r] = grow(lo, r, r)
		s.right[r] = grow(r+1, hi, r)
		return r
	}
	grow(0, n, None)
	return s
}

func balanced(n int) shape { return newShape(n, func(c int) int { return c / 2 }) }

func vwShape(n int) shape {
	return newShape(n, func(c int) int { return 1<<(bits.Len(uint(c))-1) - 1 })
}

func (s shape) Size() int                 { return len(s.parent) }
func (s shape) Parent(r int) int          { return s.parent[r] }
func (s shape) Children(r int) (int, int) { return s.left[r], s.right[r] }

// sum is the parenthesisation that every element must end with.
func (s shape) sum() string {
	var below func(r int) string
	below = func(r int) string {
		e := fmt.Sprint(r)
		if s.left[r] != None {
			e = "(" + below(s.left[r]) + "+" + e + ")"
		}
		if s.right[r] != None {
			e = "(" + e + "+" + below(s.right[r]) + ")"
		}
		return e
	}
	return below(slices.Index(s.parent, None))
}

// message is a part on its way. Elements are expressions.
type message struct {
	part   Part
	values []string
}

// node is one rank of the simulation: a flow and the memory it speaks of.
type node struct {
	flow  Flow
	place Place
	own   []string // the contribution
	vec   []string // the result
	slots [Edges]map[int][]string
	got   [Edges]int
	held  [Edges + 1]*Action // what Self (0) and the readers are in the middle of
	over  [Edges + 1]bool    // it is carried out, but Done has not been called
}

// sim runs the flows of all ranks over queues of bounded length, one event at a
// time, in an order drawn from rng. It stops when nothing can happen any more.
type sim struct {
	t      fatal
	rng    *rand.Rand
	bound  int // messages per direction of an edge
	nodes  []*node
	queues map[[2]int][]message // from, to
}

// fatal is what the simulation needs of testing.T and rapid.T.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

var _ fatal = (*testing.T)(nil)

func (s *sim) run() {
	type actor struct{ rank, by int }
	var actors []actor
	for r, n := range s.nodes {
		actors = append(actors, actor{r, Self})
		for e := range Edges {
			if n.place.has(e) {
				actors = append(actors, actor{r, e})
			}
		}
	}
	for slow := true; ; {
		moved := false
		s.rng.Shuffle(len(actors), func(i, j int) { actors[i], actors[j] = actors[j], actors[i] })
		for _, a := range actors {
			if slow && s.rng.IntN(2) == 0 {
				continue
			}
			moved = s.step(a.rank, a.by) || moved
		}
		if !moved && !slow {
			return
		}
		slow = moved // when nobody moved, everybody gets a chance
	}
}

// step lets one actor do one thing: finish what it holds, take up something new,
// or receive.
func (s *sim) step(rank, by int) bool {
	n := s.nodes[rank]
	if held := n.held[by+1]; held != nil {
		if !n.over[by+1] {
			n.over[by+1] = s.carryOut(n, *held)
			return n.over[by+1] // false: the queue is full
		}
		n.held[by+1], n.over[by+1] = nil, false
		n.flow.Done(*held)
		return true
	}
	if a, ok := n.flow.Next(by); ok {
		if by == Up && (a.Verb == Combine || a.Edge == Up) {
			s.t.Fatalf("the reader of rank %d's parent is told to do %+v: only what goes down is its own", rank, a)
		}
		n.held[by+1] = &a
		return true
	}
	return by != Self && s.receive(n, by)
}

func (s *sim) carryOut(n *node, a Action) bool {
	s.t.Helper()
	lo, hi := a.Part.Lo, a.Part.Hi
	if a.Verb == Combine {
		received := n.slots[a.Edge][a.Slot]
		if len(received) != hi-lo {
			s.t.Fatalf("rank %d combines %d elements of slot %d of edge %d, which has %d", n.place.Rank, hi-lo, a.Slot, a.Edge, len(received))
		}
		delete(n.slots[a.Edge], a.Slot)
		operand := n.vec
		if a.Own {
			operand = n.own
		}
		for i, r := range received {
			if a.Lower {
				n.vec[lo+i] = "(" + r + "+" + operand[lo+i] + ")"
			} else {
				n.vec[lo+i] = "(" + operand[lo+i] + "+" + r + ")"
			}
		}
		return true
	}
	key := [2]int{n.place.Rank, n.place.Peer[a.Edge]}
	if len(s.queues[key]) == s.bound {
		return false
	}
	from := n.vec
	if a.Own {
		from = n.own
	}
	s.queues[key] = append(s.queues[key], message{a.Part, slices.Clone(from[lo:hi])})
	return true
}

func (s *sim) receive(n *node, edge int) bool {
	s.t.Helper()
	key := [2]int{n.place.Peer[edge], n.place.Rank}
	q := s.queues[key]
	r, ok := n.flow.Expect(edge)
	if !ok || len(q) == 0 {
		return false
	}
	if q[0].part != r.Part {
		s.t.Fatalf("rank %d expects %+v from rank %d, which sent %+v", n.place.Rank, r.Part, key[0], q[0].part)
	}
	if r.Slot == Straight {
		for by, a := range n.held {
			if a != nil && a.Part.Lo < r.Part.Hi && r.Part.Lo < a.Part.Hi && (a.Edge == Up || a.Verb == Combine) {
				s.t.Fatalf("rank %d receives %+v from edge %d while %d still does %+v", n.place.Rank, r.Part, edge, by-1, *a)
			}
		}
		copy(n.vec[r.Part.Lo:r.Part.Hi], q[0].values)
	} else {
		if _, full := n.slots[edge][r.Slot]; full {
			s.t.Fatalf("rank %d receives into slot %d of edge %d, which is full", n.place.Rank, r.Slot, edge)
		}
		n.slots[edge][r.Slot] = q[0].values
	}
	s.queues[key] = q[1:]
	n.got[edge]++
	n.flow.Arrived(edge)
	return true
}

// newSim makes n ranks whose flows start makes; contribution is what rank r has
// in element i at the start.
func newSim(t fatal, tree Tree, bound int, seed uint64, elements int, start func(p Place) Flow, contribution func(r, i int) string) *sim {
	s := &sim{t: t, rng: rand.New(rand.NewPCG(seed, 7)), bound: bound, queues: map[[2]int][]message{}}
	for r := range tree.Size() {
		p := PlaceIn(tree, r)
		n := &node{place: p, flow: start(p), own: make([]string, elements)}
		for i := range n.own {
			n.own[i] = contribution(r, i)
		}
		n.vec = slices.Clone(n.own)
		for e := range n.slots {
			n.slots[e] = map[int][]string{}
		}
		s.nodes = append(s.nodes, n)
	}
	return s
}

// check runs the simulation and demands that all ranks are finished, nothing
// is left on the way, and every element is want(i) on every rank.
func (s *sim) check(want func(i int) string) {
	s.t.Helper()
	s.run()
	for r, n := range s.nodes {
		if !n.flow.Finished() {
			s.t.Fatalf("rank %d of %d is not finished and nothing moves any more: %+v", r, len(s.nodes), n.flow)
		}
		for e := range Edges {
			if n.place.has(e) && n.got[e] != n.flow.Incoming(e) {
				s.t.Fatalf("rank %d got %d parts on edge %d, want %d", r, n.got[e], e, n.flow.Incoming(e))
			}
		}
		for i, v := range n.vec {
			if v != want(i) {
				s.t.Fatalf("rank %d of %d, element %d: got %s, want %s", r, len(s.nodes), i, v, want(i))
			}
		}
	}
	for key, q := range s.queues {
		if len(q) > 0 {
			s.t.Fatalf("%d messages from rank %d to rank %d are left", len(q), key[0], key[1])
		}
	}
}
