// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/gvw-project/gvw/allreduce/schedule"
)

// Lineup is the membership of an epoch: the ranks that are left, in order, by the numbers
// they had at the start. Those numbers are names: messages, edges and requests have
// them. What is computed from how many there are (trees, schedules, segments of vectors,
// the order of records) goes by positions, which are counted among those that are left.
// docs/protocol.md says so to other implementations.
//
// In a job with vw workers it is empty: there a rank knows places in the tree alone.
type Lineup []int

// AllOf returns the lineup of a job that has lost no rank.
func AllOf(total int) Lineup {
	l := make(Lineup, total)
	for i := range l {
		l[i] = i
	}
	return l
}

// Position is that of a rank; negative: it is none of them.
func (l Lineup) Position(rank int) int {
	if l == nil {
		return rank
	}
	if at, ok := slices.BinarySearch(l, rank); ok {
		return at
	}
	return -1
}

// Rank is the one at a position.
func (l Lineup) Rank(position int) int {
	if l == nil || position < 0 {
		return position
	}
	return l[position]
}

// named is a program for positions as one for ranks.
func (l Lineup) named(p *schedule.Program) *schedule.Program {
	if p == nil || len(l) == 0 || l[len(l)-1] == len(l)-1 {
		return p // they are the same
	}
	return p.Among(l)
}
