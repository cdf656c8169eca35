// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/members"
)

// Lineup is the members of an epoch. In a job with vw workers it is empty: there a rank
// knows places in the tree only.
type Lineup = members.Set

// named returns a program for positions as one for ranks.
func named(l Lineup, p *schedule.Program) *schedule.Program {
	if p == nil || len(l) == 0 || l[len(l)-1] == len(l)-1 {
		return p // they are the same
	}
	return p.Among(l)
}
