// SPDX-License-Identifier: Apache-2.0

package topo

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strings"
)

// None is the parent of a root, and a child that does not exist.
const None = -1

// MaxSize is the largest number of ranks of a tree. It bounds the memory that a
// number from the network can make this package allocate.
const MaxSize = 1 << 20

// Tree is an in-order binary tree over the ranks 0 … Size()-1. The zero
// Tree has no ranks.
type Tree struct {
	root                int32
	parent, left, right []int32
}

// Binary returns the balanced tree of n ranks: floor(log2(n)) edges from the
// root to the farthest leaf, the least that is possible.
func Binary(n int) Tree {
	return build(n, func(lo, hi int) int { return (lo + hi) / 2 })
}

// VW returns the tree of Vowpal Wabbit's spanning_tree for n positions
// (spanning_tree.cc, build_tree). The left subtree of each node is the largest
// complete tree that fits; the right one has the remaining ranks. If n is a
// power of two, the root has only one child.
func VW(n int) Tree {
	return build(n, func(lo, hi int) int { return lo + 1<<(bits.Len(uint(hi-lo))-1) - 1 })
}

// Double returns two trees of n ranks in which no rank has children in both: an inner
// node of one tree is a leaf of the other. They are at most one edge deeper
// than Binary.
func Double(n int) (a, b Tree) {
	a = build(n, oddRoot)
	if n%2 == 0 { // the mirror image: odd ranks are its leaves
		return a, build(n, func(lo, hi int) int { return n - 1 - oddRoot(n-hi, n-lo) })
	}
	// The mirror image would have the same leaves. Rank 0 above the others shifts them.
	return a, build(n, func(lo, hi int) int {
		if lo == 0 {
			return 0
		}
		return 1 + oddRoot(lo-1, hi-1)
	})
}

// oddRoot returns the root of a subtree whose even ranks are leaves. lo is even.
func oddRoot(lo, hi int) int {
	if hi-lo == 1 {
		return lo
	}
	return lo + ((hi-lo)/2 - 1 | 1)
}

// build returns the in-order tree in which the subtree of the ranks lo … hi-1 has
// its root at root(lo, hi).
func build(n int, root func(lo, hi int) int) Tree {
	if n < 0 || n > MaxSize {
		panic(fmt.Sprintf("BUG: topo: tree of %d ranks: want 0 to %d", n, MaxSize))
	}
	t := Tree{root: None, parent: make([]int32, n), left: make([]int32, n), right: make([]int32, n)}
	var grow func(lo, hi, parent int) int32
	grow = func(lo, hi, parent int) int32 {
		if lo == hi {
			return None
		}
		node := root(lo, hi)
		t.parent[node] = int32(parent)
		t.left[node] = grow(lo, node, node)
		t.right[node] = grow(node+1, hi, node)
		return int32(node)
	}
	t.root = grow(0, n, None)
	return t
}

// Size returns the number of ranks.
func (t Tree) Size() int { return len(t.parent) }

// Root returns the rank without a parent; None in a tree without ranks.
func (t Tree) Root() int {
	if t.Size() == 0 {
		return None
	}
	return int(t.root)
}

// Parent returns the parent of rank; None for the root.
func (t Tree) Parent(rank int) int { return int(t.parent[rank]) }

// Children returns the children of rank. left is lower and right is higher than rank;
// None stands for a missing child.
func (t Tree) Children(rank int) (left, right int) {
	return int(t.left[rank]), int(t.right[rank])
}

// Degree returns the number of children of rank: 0, 1 or 2.
func (t Tree) Degree(rank int) int {
	d := 0
	if t.left[rank] != None {
		d++
	}
	if t.right[rank] != None {
		d++
	}
	return d
}

// Depth returns the number of edges from the root to the farthest leaf.
func (t Tree) Depth() int {
	var below func(rank int32) int
	below = func(rank int32) int {
		if rank == None {
			return -1
		}
		return 1 + max(below(t.left[rank]), below(t.right[rank]))
	}
	return max(0, below(int32(t.Root())))
}

// Validate checks that the root reaches every rank exactly once, that parents and
// children agree, and that lower ranks are on the left. It reports all faults.
func (t Tree) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("topo: "+format, args...))
	}
	n := t.Size()
	if len(t.left) != n || len(t.right) != n {
		fault("%d parents, %d left and %d right children: they must be equally many", n, len(t.left), len(t.right))
		return errors.Join(faults...)
	}
	next, seen := 0, make([]bool, n)
	var walk func(rank, parent int32)
	walk = func(rank, parent int32) {
		switch {
		case rank == None:
			return
		case rank < 0 || int(rank) >= n:
			fault("rank %d is a child of rank %d: ranks are 0 to %d", rank, parent, n-1)
			return
		case seen[rank]:
			fault("rank %d is in the tree twice, the second time below rank %d", rank, parent)
			return
		}
		seen[rank] = true
		if t.parent[rank] != parent {
			fault("rank %d is a child of rank %d, but its parent is %d", rank, parent, t.parent[rank])
		}
		walk(t.left[rank], rank)
		if int(rank) != next {
			fault("in-order position %d has rank %d", next, rank)
		}
		next++
		walk(t.right[rank], rank)
	}
	walk(int32(t.Root()), None)
	for rank, ok := range seen {
		if !ok {
			fault("rank %d is not below the root", rank)
		}
	}
	return errors.Join(faults...)
}

// Digest identifies the shape: two trees have equal digests if and only if
// each rank has the same children on the same sides in both.
func (t Tree) Digest() [32]byte {
	buf := binary.LittleEndian.AppendUint32([]byte("gvw tree\x00"), uint32(t.Size()))
	for rank := range t.parent {
		buf = binary.LittleEndian.AppendUint32(buf, uint32(t.left[rank]))
		buf = binary.LittleEndian.AppendUint32(buf, uint32(t.right[rank]))
	}
	return sha256.Sum256(buf)
}

// String draws the tree rotated: the root at the left edge and the highest rank on top.
func (t Tree) String() string {
	var b strings.Builder
	// prefix precedes the rank on its own line, above and below precede the lines of
	// its two subtrees.
	var draw func(rank int32, prefix, above, below string)
	draw = func(rank int32, prefix, above, below string) {
		if rank == None {
			return
		}
		draw(t.right[rank], above+"┌─ ", above+"   ", above+"│  ")
		fmt.Fprintf(&b, "%s%d\n", prefix, rank)
		draw(t.left[rank], below+"└─ ", below+"│  ", below+"   ")
	}
	draw(int32(t.Root()), "", "", "")
	return b.String()
}
