// SPDX-License-Identifier: Apache-2.0

package members

import (
	"fmt"
	"slices"

	"github.com/gvw-project/gvw/internal/plain"
)

// Set is the members of an epoch, in ascending order of their ranks.
//
// A nil Set maps every rank to the same position. It stands for the neighbours in a job with
// vw workers, where a rank knows places in the tree and no ranks.
type Set []int

// All returns the members of a job that has lost no rank.
func All(total int) Set {
	s := make(Set, total)
	for i := range s {
		s[i] = i
	}
	return s
}

// Position returns the position of a rank, or a negative number if the rank is no member.
func (s Set) Position(rank int) int {
	if s == nil {
		return rank
	}
	if at, ok := slices.BinarySearch(s, rank); ok {
		return at
	}
	return -1
}

// Rank returns the rank at a position. A negative position, such as topo.None, is returned
// unchanged.
func (s Set) Rank(position int) int {
	if s == nil || position < 0 {
		return position
	}
	return s[position]
}

// Name returns a rank for messages: "rank 7 (h7:26550)". host may be empty. It comes from
// another process, so control characters in it are escaped.
func Name(rank int, host string) string {
	if host == "" {
		return fmt.Sprintf("rank %d", rank)
	}
	return fmt.Sprintf("rank %d (%s)", rank, plain.Text(host))
}
