// SPDX-License-Identifier: Apache-2.0

package schedule

import "github.com/gvw-project/gvw/allreduce/topo"

// smallBytes is the largest vector, in bytes, for which latency costs more than bandwidth.
const smallBytes = 64 << 10

// prefersChain reports whether a pipeline through all ranks fills and drains faster than a
// tree can send everything twice.
func (s Spec) prefersChain() bool { return (s.Size-2)*s.Chunk <= s.Bytes }

// Reduce returns rank's program of a sum that ends at root, with operands in the order of
// the ranks. The result buffer of the other ranks is scratch.
//
// Small vectors go up the tree of ranks, large ones along the ranks from both ends.
func (s Spec) Reduce(root, rank int) *Program {
	s = s.withDefaults()
	switch b := s.builder(rank); {
	case s.Bytes == 0:
		return s.Barrier(rank)
	case s.prefersChain():
		return b.reduceChain(root)
	default:
		return b.reduceTree(topo.Binary(s.Size), root)
	}
}

// reduceChain computes ((0+1)+ … +root) + ( … + (N-2+N-1)).
func (b builder) reduceChain(root int) *Program {
	rank, n, bytes := b.p.Rank, b.p.Size, b.p.Bytes
	if rank <= root && rank > 0 {
		b.add(Below, rank-1, 0, bytes)
	}
	if rank >= root && rank < n-1 {
		b.add(Above, rank+1, 0, bytes)
	}
	switch {
	case rank < root:
		b.add(Give, rank+1, 0, bytes)
	case rank > root:
		b.add(Give, rank-1, 0, bytes)
	}
	return b.seal()
}

// reduceTree adds as PipelinedTree does; the tree's root then sends the sum to root.
func (b builder) reduceTree(t topo.Tree, root int) *Program {
	rank, bytes := b.p.Rank, b.p.Bytes
	left, right := t.Children(rank)
	if left != None {
		b.add(Below, left, 0, bytes)
	}
	if right != None {
		b.add(Above, right, 0, bytes)
	}
	switch up := t.Parent(rank); {
	case up != None:
		b.add(Give, up, 0, bytes)
	case rank != root:
		b.add(Give, root, 0, bytes)
	}
	if rank == root && t.Parent(rank) != None {
		b.add(Take, t.Root(), 0, bytes)
	}
	return b.seal()
}

// ReduceScatter returns rank's program of a sum of which each rank gets its own segment,
// Cut(rank) … Cut(rank+1). The rest of the result buffer is scratch. With Ordered the
// operands stay in the order of the ranks.
//
// Small vectors are all-reduced by doubling. Large ones go around a ring, or with Ordered
// directly to the owners of the segments.
func (s Spec) ReduceScatter(rank int) *Program {
	s = s.withDefaults()
	b := s.builder(rank)
	switch {
	case s.Bytes <= smallBytes:
		return s.doubling(rank)
	case s.Ordered:
		b.directSum(s.Size, s.Cut)
	default:
		b.ringSum(s, rank+s.Size-1)
	}
	return b.seal()
}
