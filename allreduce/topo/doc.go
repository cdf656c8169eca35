// SPDX-License-Identifier: Apache-2.0

// Package topo holds the shapes over which ranks talk, as values: they can
// be compared, digested, printed and checked before a byte moves.
//
// A [Tree] joins the ranks 0 … n-1. Its nodes are the ranks themselves and
// it is an in-order tree: every rank of a left subtree is lower, every rank
// of a right subtree is higher than the rank at its root. So a reduction
// that adds
//
//	left + own + right
//
// adds operands in the order of their ranks, and the sum depends on n alone.
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
// [Binary] is as shallow as a binary tree can be. [VW] is the shape that
// Vowpal Wabbit's spanning_tree builds, which a job with a vw worker has to
// use: it wastes a level when n is a power of two, but vw's programs were
// told so.
//
// [Double] returns two trees for the two halves of a vector: a rank with children in
// one is a leaf of the other, so that all ranks carry about the same load.
//
// A Tree is immutable; any number of goroutines may use it.
package topo
