// SPDX-License-Identifier: Apache-2.0

// Package topo has the graphs over which ranks communicate, as values that can be
// compared, digested, printed and validated.
//
// A [Tree] has the ranks 0 … n-1 as its nodes. It is an in-order tree: all ranks of
// a left subtree are lower, and all ranks of a right subtree are higher, than the rank
// at its root. A reduction that adds
//
//	left + own + right
//
// therefore adds its operands in the order of the ranks, and the sum depends only on n.
//
//	t := topo.Binary(7)
//	t.Parent(3)   // -1: the root
//	t.Children(3) // 1, 5
//	fmt.Print(t)  // the picture below
//
//	   ┌─ 6
//	┌─ 5
//	│  └─ 4
//	3
//	│  ┌─ 2
//	└─ 1
//	   └─ 0
//
// [Binary] has the least depth that a binary tree can have. [VW] is the tree of
// Vowpal Wabbit's spanning_tree. A job with a vw worker must use it: vw workers get
// their parent and children from the server. It is one level deeper when n is a power of two.
//
// [Double] returns two trees for the two halves of a vector. A rank with children in
// one is a leaf of the other, so that all ranks carry about the same load.
//
// A Tree is immutable and safe for concurrent use.
package topo
