// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"cmp"
	"slices"

	"github.com/gvw-project/gvw/allreduce/topo"
)

// doubleTree sums each half of the vector along its own tree (topo.Double), chunk by
// chunk. A rank that is an inner node of one tree is a leaf of the other. So each rank
// sends each byte twice, whereas in a single tree some ranks send it three times.
//
// The steps are sorted by a clock on which a hop takes one tick and chunk k starts
// at tick k. Chunks that go up one tree share edges with chunks that go down the
// other, and the clock fixes their order. Messages wait only for earlier ticks, so
// there is no cycle of waits.
func (s Spec) doubleTree(rank int) *Program {
	b := s.builder(rank)
	first, second := topo.Double(s.Size)
	mid := s.cutIn(0, s.Bytes, 1, 2)
	steps := s.treeSteps(nil, 0, first, rank, 0, mid)
	steps = s.treeSteps(steps, 1, second, rank, mid, s.Bytes)
	slices.SortStableFunc(steps, func(x, y timedStep) int { return cmp.Compare(x.tick, y.tick) })
	b.addWindowed(steps)
	return b.seal()
}

// timedStep is a step for one chunk of one tree.
type timedStep struct {
	Step
	tick, tree, chunk int
	down, up          bool // it receives a result from the parent; it sends a sum to it
	window            int  // windowOf the tree
}

// treeSteps appends the rank's steps for one tree and the bytes lo … hi of the vector.
func (s Spec) treeSteps(steps []timedStep, tree int, t topo.Tree, rank, lo, hi int) []timedStep {
	left, right := t.Children(rank)
	up := t.Parent(rank)
	height, top, depth := heightOf(t, rank), t.Depth(), 0
	below, above := heightOf(t, left), heightOf(t, right)
	for r := rank; r != t.Root(); r = t.Parent(r) {
		depth++
	}
	for k := 0; lo+k*s.Chunk < hi; k++ {
		x := timedStep{tree: tree, chunk: k, window: windowOf(top)}
		x.Lo, x.Hi = lo+k*s.Chunk, min(lo+(k+1)*s.Chunk, hi)
		add := func(act Act, peer, tick int) *timedStep {
			x.Act, x.Peer, x.tick = act, peer, k+tick
			steps = append(steps, x)
			return &steps[len(steps)-1]
		}
		if left != topo.None {
			add(Below, left, below)
		}
		if right != topo.None {
			add(Above, right, above)
		}
		if up != topo.None {
			add(Give, up, height).up = true
			add(Take, up, top+depth-1).down = true
		}
		for _, child := range [...]int{left, right} {
			if child != topo.None {
				add(Give, child, top+depth)
			}
		}
	}
	return steps
}

// windowOf returns the number of chunks by which the sums that a rank has sent to its
// parent may be ahead of the results that it has received. Without a bound, early sums
// delay results on the network: with 1,000 ranks by a third. The window is large enough
// to fill the whole path up and down.
func windowOf(height int) int { return max(16, 2*height+2) }

// addWindowed adds the steps. Each sum that goes up waits for the result that came down
// addWindowed chunks before.
func (b builder) addWindowed(steps []timedStep) {
	type key struct{ tree, chunk int }
	taken := map[key]int32{}
	for i, x := range steps {
		if x.down {
			taken[key{x.tree, x.chunk}] = int32(i)
		}
		if x.up {
			if before, ok := taken[key{x.tree, x.chunk - x.window}]; ok {
				x.After = []int32{before}
			}
		}
		b.p.Steps = append(b.p.Steps, x.Step)
	}
}

// heightOf returns the number of edges from rank to the farthest leaf below it; -1 for no rank.
func heightOf(t topo.Tree, rank int) int {
	if rank == topo.None {
		return -1
	}
	left, right := t.Children(rank)
	return 1 + max(heightOf(t, left), heightOf(t, right))
}

// doubleTreeSums returns the sums of the two halves.
func (s Spec) doubleTreeSums() []Sum {
	first, second := topo.Double(s.Size)
	mid := s.cutIn(0, s.Bytes, 1, 2)
	sums := []Sum{{mid, s.Bytes, appendLowerFirst(nil, second, second.Root())}}
	if mid > 0 {
		sums = append([]Sum{{0, mid, appendLowerFirst(nil, first, first.Root())}}, sums...)
	}
	return merge(sums)
}

// appendLowerFirst appends the sum of rank's subtree. The child with the lower subtree
// is joined first, as its sum arrives first.
func appendLowerFirst(dst []int32, t topo.Tree, rank int) []int32 {
	left, right := t.Children(rank)
	leftFirst := heightOf(t, left) <= heightOf(t, right)
	if left != topo.None {
		dst = appendLowerFirst(dst, t, left)
	}
	dst = append(dst, int32(rank))
	if left != topo.None && leftFirst {
		dst = append(dst, Join)
	}
	if right != topo.None {
		dst = append(appendLowerFirst(dst, t, right), Join)
	}
	if left != topo.None && !leftFirst {
		dst = append(dst, Join)
	}
	return dst
}
