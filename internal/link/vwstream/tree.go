// SPDX-License-Identifier: Apache-2.0

// Package vwstream is the stream of vw's workers, without frames.
//
// On each connection of the tree it carries the vectors of one call after the other as
// little-endian float32: up to the parent, then the results down. No byte names the call
// that it belongs to, so ranks that make different calls corrupt each other's results.
package vwstream

import "github.com/gvw-project/gvw/allreduce/schedule"

// The places of the tree as one rank sees it. A rank knows the places of its neighbours, not their
// ranks, so the programs of the stream use these numbers as ranks.
const (
	Left   = 0 // the first child
	Self   = 1
	Right  = 2 // the second child
	Parent = 3
)

// Tree is the tree of a job with vw workers, as one rank sees it.
type Tree struct {
	HasParent bool
	Kids      int // 0, 1 or 2
}

// Size returns the number of places: the rank, two children, the parent.
func (t Tree) Size() int { return Parent + 1 }

// Parent returns the place of the parent, or schedule.None at the root.
func (t Tree) Parent(int) int {
	if t.HasParent {
		return Parent
	}
	return schedule.None
}

// Children returns the places of the children, schedule.None where there is none.
func (t Tree) Children(int) (left, right int) {
	left, right = schedule.None, schedule.None
	if t.Kids > 0 {
		left = Left
	}
	if t.Kids > 1 {
		right = Right
	}
	return left, right
}
