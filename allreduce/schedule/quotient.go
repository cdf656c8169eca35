// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"
)

// Quotient reports whether the ranks of each host may sum among themselves first, and
// the schedule that then joins the groups. The order of additions stays the same if
// each group as a whole is one operand of each sum, and if some schedule of the groups'
// leaders adds these operands in the same way. A group then evaluates its part of
// [Spec.Sums], and its leader is rank g for groups[g] in an all-reduce of the
// leaders. The result has the same bits.
//
// groups must contain each rank exactly once.
func (s Spec) Quotient(groups [][]int) (Name, bool) {
	s = s.withDefaults()
	owner := s.owners(groups)
	sums := slices.Clone(s.Sums())
	for i := range sums {
		expr, ok := contract(sums[i].Expr, owner, groups)
		if !ok {
			return Auto, false
		}
		sums[i].Expr = expr
	}
	sums = merge(sums)
	for _, name := range append([]Name{s.Schedule}, Names...) {
		if s.Ordered && !name.Ordered() {
			continue
		}
		among := s
		among.Size, among.Schedule = len(groups), name
		if slices.EqualFunc(sums, among.Sums(), Sum.equal) {
			return name, true
		}
	}
	return Auto, false
}

// Part returns the additions within a group of ranks: of each sum, the part that has
// exactly these ranks. It reports false if a sum has no such part.
func (s Spec) Part(group []int) ([]Sum, bool) {
	s = s.withDefaults()
	inside := make([]bool, s.Size)
	for _, r := range group {
		inside[r] = true
	}
	sums := slices.Clone(s.Sums())
	for i := range sums {
		expr, ok := partOf(sums[i].Expr, inside, len(group))
		if !ok {
			return nil, false
		}
		sums[i].Expr = expr
	}
	return merge(sums), true
}

// partOf returns the part of expr that has exactly the given number of ranks, all of them inside.
func partOf(expr []int32, inside []bool, ranks int) ([]int32, bool) {
	type span struct{ from, in, out int } // start in expr; ranks inside and outside the group
	var stack []span
	for i, x := range expr {
		q := span{from: i}
		switch {
		case x == Join:
			a, b := stack[len(stack)-2], stack[len(stack)-1]
			stack = stack[:len(stack)-2]
			q = span{a.from, a.in + b.in, a.out + b.out}
		case inside[x]:
			q.in = 1
		default:
			q.out = 1
		}
		if q.in == ranks && q.out == 0 {
			return expr[q.from : i+1], true
		}
		stack = append(stack, q)
	}
	return nil, false
}

// owners returns the index of each rank's group.
func (s Spec) owners(groups [][]int) []int32 {
	owner, count := make([]int32, s.Size), 0
	for i := range owner {
		owner[i] = -1
	}
	for g, ranks := range groups {
		for _, r := range ranks {
			if r < 0 || r >= s.Size || owner[r] >= 0 {
				panic(fmt.Sprintf("BUG: schedule: the groups %v do not have each of %d ranks exactly once", groups, s.Size))
			}
			owner[r] = int32(g)
			count++
		}
	}
	if count != s.Size || slices.ContainsFunc(groups, func(g []int) bool { return len(g) == 0 }) {
		panic(fmt.Sprintf("BUG: schedule: the groups %v do not have each of %d ranks exactly once", groups, s.Size))
	}
	return owner
}

// operand is an operand on the stack of contract: some ranks of an incomplete group, or a
// sum of whole groups.
type operand struct {
	group int32
	ranks int     // of the group, so far
	expr  []int32 // sum of whole groups; nil: the group is incomplete
}

// contract replaces each whole group in expr by its number. It reports false if a sum mixes
// ranks of different groups before both groups are complete.
func contract(expr, owner []int32, groups [][]int) ([]int32, bool) {
	var stack []operand
	for _, x := range expr {
		var q operand
		if x != Join {
			q = operand{group: owner[x], ranks: 1}
		} else {
			a, b := stack[len(stack)-2], stack[len(stack)-1]
			stack = stack[:len(stack)-2]
			switch {
			case a.expr != nil && b.expr != nil:
				q.expr = append(append(a.expr, b.expr...), Join)
			case a.expr == nil && b.expr == nil && a.group == b.group:
				q = operand{group: a.group, ranks: a.ranks + b.ranks}
			default:
				return nil, false
			}
		}
		if q.expr == nil && q.ranks == len(groups[q.group]) {
			q.expr = []int32{q.group}
		}
		stack = append(stack, q)
	}
	return stack[0].expr, true
}
