// SPDX-License-Identifier: Apache-2.0

package schedule

import "github.com/gvw-project/gvw/allreduce/topo"

// tree is the shape of the one-tree schedules.
func (s Spec) tree() Tree {
	if s.Schedule == VWTree {
		return topo.VW(s.Size)
	}
	return topo.Binary(s.Size)
}

// PipelinedTree is the all-reduce along a binary tree in the order of the
// ranks: sums go up, results come down while later ones are still going up. The
// sum at every rank is (left + own) + right.
func PipelinedTree(t Tree, rank, bytes int) *Program {
	b := newBuilder(t.Size(), rank, bytes)
	left, right := t.Children(rank)
	up := t.Parent(rank)
	if left != None {
		b.add(Below, left, 0, bytes)
	}
	if right != None {
		b.add(Above, right, 0, bytes)
	}
	if up != None {
		b.add(Give, up, 0, bytes)
		b.add(Take, up, 0, bytes)
	}
	for _, child := range [...]int{left, right} {
		if child != None {
			b.add(Give, child, 0, bytes)
		}
	}
	return b.seal()
}

// TreeBroadcast brings the vector of root to all ranks along a binary tree.
func TreeBroadcast(t Tree, rank, root, bytes int) *Program {
	b := newBuilder(t.Size(), rank, bytes)
	from := toward(t, rank, root)
	if from != None {
		b.add(Take, from, 0, bytes)
	}
	left, right := t.Children(rank)
	for _, peer := range [...]int{t.Parent(rank), left, right} {
		if peer != None && peer != from {
			b.add(Give, peer, 0, bytes)
		}
	}
	return b.seal()
}

// TreeAllGatherV brings every rank's own range of the vector, offsets[r] to
// offsets[r+1], to all ranks: the ranges of a subtree, which are neighbours, go
// up, and what a subtree lacks comes down. It is made for small records.
func TreeAllGatherV(t Tree, rank int, offsets []int) *Program {
	n := t.Size()
	b := newBuilder(n, rank, offsets[n])
	b.inPlace = true
	lo, hi := subtree(t, rank)
	up := t.Parent(rank)
	left, right := t.Children(rank)
	if left != None {
		b.some(Take, left, offsets[lo], offsets[rank])
	}
	if right != None {
		b.some(Take, right, offsets[rank+1], offsets[hi])
	}
	if up != None {
		b.some(Give, up, offsets[lo], offsets[hi])
		b.some(Take, up, 0, offsets[lo])
		b.some(Take, up, offsets[hi], offsets[n])
	}
	for _, child := range [...]int{left, right} {
		if child != None {
			lo, hi := subtree(t, child)
			b.some(Give, child, 0, offsets[lo])
			b.some(Give, child, offsets[hi], offsets[n])
		}
	}
	return b.seal()
}

// None is the rank at the other end of an edge that is not there.
const None = -1

// Tree is an in-order binary tree over ranks, such as topo.Binary(n).
type Tree interface {
	Size() int
	Parent(rank int) int
	Children(rank int) (left, right int)
}

// subtree is the range of ranks, lo … hi-1, that hang on rank, and itself.
func subtree(t Tree, rank int) (lo, hi int) {
	lo, hi = rank, rank
	for l := rank; l != None; l, _ = t.Children(l) {
		lo = l
	}
	for r := rank; r != None; _, r = t.Children(r) {
		hi = r
	}
	return lo, hi + 1
}

// toward is the neighbour of rank on the way to another rank; None at that one.
func toward(t Tree, rank, to int) int {
	left, right := t.Children(rank)
	lo, hi := subtree(t, rank)
	switch {
	case to == rank:
		return None
	case to < lo || to >= hi:
		return t.Parent(rank)
	case to < rank:
		return left
	}
	return right
}
