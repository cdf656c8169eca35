// SPDX-License-Identifier: Apache-2.0

package schedule

import "github.com/gvw-project/gvw/allreduce/topo"

// tree returns the tree of the schedules that have only one.
func (s Spec) tree() Tree {
	if s.Schedule == VWTree {
		return topo.VW(s.Size)
	}
	return topo.Binary(s.Size)
}

// PipelinedTree returns rank's program of an all-reduce along a binary tree in the order of
// the ranks. Sums go up, and results come down while later sums are still going up. The
// sum at each rank is (left + own) + right.
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

// TreeBroadcast returns rank's program that copies root's vector to all ranks along a binary tree.
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

// TreeAllGatherV returns rank's program of an all-gather of ranges, offsets[r] to
// offsets[r+1] from rank r, along a binary tree. The ranges of a subtree, which are
// adjacent, go up, and those that a subtree lacks come down. It is intended for small records.
func TreeAllGatherV(t Tree, rank int, offsets []int) *Program {
	n := t.Size()
	b := newBuilder(n, rank, offsets[n])
	b.inPlace = true
	lo, hi := subtree(t, rank)
	up := t.Parent(rank)
	left, right := t.Children(rank)
	if left != None {
		b.addNonEmpty(Take, left, offsets[lo], offsets[rank])
	}
	if right != None {
		b.addNonEmpty(Take, right, offsets[rank+1], offsets[hi])
	}
	if up != None {
		b.addNonEmpty(Give, up, offsets[lo], offsets[hi])
		b.addNonEmpty(Take, up, 0, offsets[lo])
		b.addNonEmpty(Take, up, offsets[hi], offsets[n])
	}
	for _, child := range [...]int{left, right} {
		if child != None {
			lo, hi := subtree(t, child)
			b.addNonEmpty(Give, child, 0, offsets[lo])
			b.addNonEmpty(Give, child, offsets[hi], offsets[n])
		}
	}
	return b.seal()
}

// None stands for a parent, child or peer that does not exist.
const None = -1

// Tree is an in-order binary tree over ranks, such as topo.Binary(n).
type Tree interface {
	Size() int
	Parent(rank int) int
	Children(rank int) (left, right int)
}

// subtree returns the range of ranks, lo … hi-1, in the subtree of rank.
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

// toward returns the neighbour of rank on the path to another rank; None if it is that rank.
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
