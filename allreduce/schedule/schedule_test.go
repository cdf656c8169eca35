// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// scenario is what a property is checked for.
type scenario struct {
	tree     shape
	opt      Options
	elements int
	bound    int    // messages an edge holds before a send blocks
	seed     uint64 // of the order of events
}

func drawScenario(t *rapid.T) scenario {
	n := rapid.IntRange(1, 64).Draw(t, "ranks")
	c := scenario{
		tree: balanced(n),
		opt: Options{
			PartSize: rapid.IntRange(1, 4).Draw(t, "part size"),
			Slots:    rapid.IntRange(1, 3).Draw(t, "slots"),
			Phased:   rapid.Bool().Draw(t, "phased"),
		},
		elements: rapid.IntRange(0, 12).Draw(t, "elements"),
		bound:    rapid.IntRange(1, 3).Draw(t, "bound"),
		seed:     rapid.Uint64().Draw(t, "seed"),
	}
	if rapid.Bool().Draw(t, "vw's tree") {
		c.tree = vwShape(n)
	}
	return c
}

// everySize is one scenario for each number of ranks from 1 to 64, so that none
// is left to chance.
func everySize() []scenario {
	var cs []scenario
	for n := 1; n <= 64; n++ {
		cs = append(cs, scenario{balanced(n), Options{PartSize: 2, Slots: 2}, 5, 1, uint64(n)})
	}
	return cs
}

// forAll checks a property for every size and for random scenarios.
func forAll(t *testing.T, check func(t fatal, c scenario)) {
	for _, c := range everySize() {
		check(t, c)
	}
	rapid.Check(t, func(rt *rapid.T) { check(rt, drawScenario(rt)) })
}

// TestAllReduceParenthesisesAlike: everybody ends with every contribution exactly
// once, in the order of ranks, parenthesised as the tree is.
func TestAllReduceParenthesisesAlike(t *testing.T) {
	forAll(t, func(t fatal, c scenario) {
		s := newSim(t, c.tree, c.bound, c.seed, c.elements, func(p Place) Flow {
			f := new(AllReduce)
			f.Start(p, c.elements, c.opt)
			return f
		}, func(r, _ int) string { return fmt.Sprint(r) })
		want := c.tree.sum()
		s.check(func(int) string { return want })
	})
}

// TestAllReduceLeavesTheContribution: the result of a rank never goes into its
// contribution.
func TestAllReduceLeavesTheContribution(t *testing.T) {
	s := newSim(t, balanced(7), 1, 1, 3, func(p Place) Flow {
		f := new(AllReduce)
		f.Start(p, 3, Options{PartSize: 1})
		return f
	}, func(r, _ int) string { return fmt.Sprint(r) })
	for _, n := range s.nodes {
		n.vec = make([]string, 3) // so that nobody can take it for the contribution
	}
	want := balanced(7).sum()
	s.check(func(int) string { return want })
	for r, n := range s.nodes {
		for i, v := range n.own {
			if v != fmt.Sprint(r) {
				t.Errorf("rank %d, element %d of the contribution: got %s", r, i, v)
			}
		}
	}
}

func TestPhasedSendsNothingDownBeforeAllIsUp(t *testing.T) {
	tree := balanced(3)
	var f AllReduce
	f.Start(PlaceIn(tree, 1), 4, Options{PartSize: 1, Phased: true})
	for part := range 4 {
		for _, edge := range []int{Left, Right} {
			if _, ok := f.Expect(edge); !ok {
				t.Fatalf("part %d of edge %d is not expected", part, edge)
			}
			f.Arrived(edge)
			for {
				a, ok := f.Next(edge)
				if !ok {
					break
				}
				if a.Verb == Send && (part < 3 || edge == Left) {
					t.Fatalf("sends %+v after part %d of edge %d", a, part, edge)
				}
				f.Done(a)
			}
		}
	}
	if !f.Finished() {
		t.Error("not finished after all parts")
	}
}

// TestResultWaitsUntilItsPlaceIsFree: what comes down overwrites what was sent up,
// so it is not received before that send is over.
func TestResultWaitsUntilItsPlaceIsFree(t *testing.T) {
	var f AllReduce
	f.Start(PlaceIn(balanced(3), 0), 8, Options{})
	if _, ok := f.Expect(Up); ok {
		t.Error("the result is expected before anything was sent")
	}
	a, ok := f.Next(Self)
	if want := (Action{Verb: Send, Edge: Up, Part: Part{0, 0, 8}, Own: true}); !ok || a != want {
		t.Fatalf("got %+v, %v; want %+v", a, ok, want)
	}
	if _, ok := f.Expect(Up); ok {
		t.Error("the result is expected while the send is under way")
	}
	f.Done(a)
	if r, ok := f.Expect(Up); !ok || r.Slot != Straight {
		t.Errorf("after the send: got %+v, %v; want the result straight into its place", r, ok)
	}
}

func TestBroadcastReachesAll(t *testing.T) {
	forAll(t, func(t fatal, c scenario) {
		root := int(c.seed % uint64(c.tree.Size()))
		s := newSim(t, c.tree, c.bound, c.seed, c.elements, func(p Place) Flow {
			f := new(Broadcast)
			f.Start(p, root, c.elements, c.opt)
			return f
		}, func(r, i int) string { return fmt.Sprintf("%d of %d", i, r) })
		s.check(func(i int) string { return fmt.Sprintf("%d of %d", i, root) })
	})
}

func TestGatherBringsEveryRecord(t *testing.T) {
	forAll(t, func(t fatal, c scenario) {
		offsets := []int{0}
		var owner []int
		for r := range c.tree.Size() {
			for range int(c.seed>>(r%60)) % 4 { // some ranks have no record at all
				owner = append(owner, r)
			}
			offsets = append(offsets, len(owner))
		}
		s := newSim(t, c.tree, c.bound, c.seed, len(owner), func(p Place) Flow {
			f := new(Gather)
			f.Start(p, offsets, c.opt)
			return f
		}, func(r, i int) string {
			if owner[i] != r {
				return "nothing"
			}
			return fmt.Sprint(r)
		})
		s.check(func(i int) string { return fmt.Sprint(owner[i]) })
	})
}

func TestPlace(t *testing.T) {
	for n := 1; n <= 64; n++ {
		for _, tree := range []shape{balanced(n), vwShape(n)} {
			for r := range n {
				p := PlaceIn(tree, r)
				for q := range n {
					edge := p.toward(q)
					if q == r {
						if edge != Self {
							t.Fatalf("n=%d: from %d to itself: got edge %d", n, r, edge)
						}
						continue
					}
					// One step must bring us nearer.
					next := PlaceIn(tree, p.Peer[edge])
					if q >= p.Lo && q < p.Hi && next.Hi-next.Lo >= p.Hi-p.Lo {
						t.Fatalf("n=%d: from %d to %d by edge %d: not down", n, r, q, edge)
					}
					if q < next.Lo || q >= next.Hi {
						if edge != Up {
							t.Fatalf("n=%d: from %d to %d by edge %d: the wrong subtree", n, r, q, edge)
						}
					}
				}
			}
		}
	}
}

func FuzzEventOrder(f *testing.F) {
	f.Add(uint64(1), uint8(4), uint8(7))
	f.Fuzz(func(t *testing.T, seed uint64, n, elements uint8) {
		tree := balanced(1 + int(n)%64)
		s := newSim(t, tree, 1, seed, int(elements)%16, func(p Place) Flow {
			f := new(AllReduce)
			f.Start(p, int(elements)%16, Options{PartSize: 1 + int(seed%5), Slots: 1 + int(seed%3)})
			return f
		}, func(r, _ int) string { return fmt.Sprint(r) })
		want := tree.sum()
		s.check(func(int) string { return want })
	})
}
