// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"cmp"
	"slices"

	"github.com/gvw-project/gvw/allreduce/topo"
)

// doubleTree sums each half of the vector along a tree of its own (topo.Double), chunk
// by chunk: who is in the middle of one tree is a leaf of the other, so a rank
// sends each byte twice, where one tree makes some send it three times.
//
// The steps are sorted by a clock on which a hop takes one tick and chunk k starts
// at tick k: a chunk from the depths of one tree and another on its way down the
// other one share edges, and each needs its turn. Messages only wait
// for earlier ticks, so nobody waits in a circle.
func (s Spec) doubleTree(rank int) *Program {
	b := s.builder(rank)
	first, second := topo.Double(s.Size)
	mid := s.cutIn(0, s.Bytes, 1, 2)
	steps := s.treeSteps(nil, 0, first, rank, 0, mid)
	steps = s.treeSteps(steps, 1, second, rank, mid, s.Bytes)
	slices.SortStableFunc(steps, func(x, y timed) int { return cmp.Compare(x.tick, y.tick) })
	b.window(steps)
	return b.seal()
}

// timed is a step of a tree's chunk.
type timed struct {
	Step
	tick, tree, chunk int
	down, up          bool // it takes a result from the parent; it gives a sum to it
	window            int
}

// treeSteps appends the rank's steps for one tree and the bytes lo … hi.
func (s Spec) treeSteps(steps []timed, tree int, t topo.Tree, rank, lo, hi int) []timed {
	left, right := t.Children(rank)
	up := t.Parent(rank)
	height, top, depth := heightOf(t, rank), t.Depth(), 0
	below, above := heightOf(t, left), heightOf(t, right)
	for r := rank; r != t.Root(); r = t.Parent(r) {
		depth++
	}
	for k := 0; lo+k*s.Chunk < hi; k++ {
		x := timed{tree: tree, chunk: k, window: windowOf(top)}
		x.Lo, x.Hi = lo+k*s.Chunk, min(lo+(k+1)*s.Chunk, hi)
		add := func(act Act, peer, tick int) *timed {
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

// windowOf is how many chunks a rank may give to its parent ahead of those it has
// taken from it. Without a bound early sums crowd out results on the network: with
// 1,000 ranks that costs a third. It lets a whole way up and down fill.
func windowOf(height int) int { return max(16, 2*height+2) }

// window adds the steps, each sum that goes up after the result that came down so many
// chunks before.
func (b builder) window(steps []timed) {
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

// heightOf is the number of edges from rank to the farthest leaf below it.
func heightOf(t topo.Tree, rank int) int {
	if rank == topo.None {
		return -1
	}
	left, right := t.Children(rank)
	return 1 + max(heightOf(t, left), heightOf(t, right))
}

// doubleTreeSums are the sums of the two halves.
func (s Spec) doubleTreeSums() []Sum {
	first, second := topo.Double(s.Size)
	mid := s.cutIn(0, s.Bytes, 1, 2)
	sums := []Sum{{mid, s.Bytes, appendSooner(nil, second, second.Root())}}
	if mid > 0 {
		sums = append([]Sum{{0, mid, appendSooner(nil, first, first.Root())}}, sums...)
	}
	return merge(sums)
}

// appendSooner appends the sum of rank's subtree. The child that is less deep
// is joined first, as its sum is there first.
func appendSooner(dst []int32, t topo.Tree, rank int) []int32 {
	left, right := t.Children(rank)
	leftFirst := heightOf(t, left) <= heightOf(t, right)
	if left != topo.None {
		dst = appendSooner(dst, t, left)
	}
	dst = append(dst, int32(rank))
	if left != topo.None && leftFirst {
		dst = append(dst, Join)
	}
	if right != topo.None {
		dst = append(appendSooner(dst, t, right), Join)
	}
	if left != topo.None && !leftFirst {
		dst = append(dst, Join)
	}
	return dst
}
