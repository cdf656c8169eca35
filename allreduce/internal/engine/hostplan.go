// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/shm"
)

// makeShared returns the plan of an all-reduce where ranks share memory. The ranks of a host sum among
// themselves if that keeps the order of the additions, so that the result has the same bits as over
// a network. Otherwise they act as if they shared no memory.
func (p *Plans) makeShared(s schedule.Spec) plan {
	if len(p.Hosts[0]) == s.Size {
		return plan{Name: s.Schedule, Programs: shm.Compile(s.Sums(), !s.Ordered)}
	}
	groups, name := Divide(s, p.Hosts)
	self := slices.IndexFunc(groups, func(g []int) bool { return slices.Contains(g, p.rank) })
	group, leaders := groups[self], make([]int, len(groups))
	for i, g := range groups {
		leaders[i] = g[0]
	}
	made := plan{Name: s.Schedule}
	if group[0] == p.rank {
		among := s
		among.Size, among.Schedule = len(groups), name
		made.Prog = among.AllReduce(self).Among(leaders)
	}
	if len(group) > 1 {
		part, ok := s.Part(group)
		if !ok {
			panic("BUG: allreduce: a quotient without its parts")
		}
		for _, x := range part {
			for i, r := range x.Expr {
				if r != schedule.Join {
					x.Expr[i] = int32(slices.Index(group, int(r)))
				}
			}
		}
		made.Programs, made.Part = shm.Compile(part, !s.Ordered), true
	}
	return made
}

// Divide splits the ranks of a job into groups: the ranks of a host where the schedule adds them as a
// whole, and single ranks elsewhere. The leaders of the groups, their first ranks,
// all-reduce with the schedule name.
func Divide(s schedule.Spec, hosts [][]int) (groups [][]int, name schedule.Name) {
	var whole [][]int
	for _, host := range hosts {
		if _, ok := s.Part(host); ok {
			whole = append(whole, host)
		}
	}
	groups = grouped(s.Size, whole)
	if name, ok := s.Quotient(groups); ok {
		return groups, name
	}
	// Not all of them together: then as many as can be, one after the other.
	var some [][]int
	groups, name = grouped(s.Size, nil), s.Schedule
	for _, host := range whole {
		more := append(slices.Clone(some), host)
		if n, ok := s.Quotient(grouped(s.Size, more)); ok {
			some, groups, name = more, grouped(s.Size, more), n
		}
	}
	return groups, name
}

// grouped returns the hosts and each other rank as a group, in the order of their first ranks.
func grouped(size int, hosts [][]int) [][]int {
	of := make([][]int, size)
	for _, host := range hosts {
		for _, r := range host {
			of[r] = host
		}
	}
	var groups [][]int
	for r, host := range of {
		switch {
		case host == nil:
			groups = append(groups, []int{r})
		case host[0] == r:
			groups = append(groups, host)
		}
	}
	return groups
}
