// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"
)

// Quotient answers whether ranks that share a host may sum among themselves first.
// That keeps the order of additions if in each sum every group is an operand as a
// whole, and some schedule of the groups' leaders adds the rest the same way: then
// a group evaluates its part of [Spec.Sums], and its leader all-reduces among
// leaders with the returned schedule, as rank g for groups[g]. The result has the same bits.
//
// groups hold each rank once.
func (s Spec) Quotient(groups [][]int) (Name, bool) {
	s = s.checked()
	owner := s.owners(groups)
	sums := slices.Clone(s.Sums())
	for i := range sums {
		expr, ok := divide(sums[i].Expr, owner, groups)
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

// Part says what a group of ranks adds among itself: the part of each sum that has these
// ranks, and no others. False: there is none.
func (s Spec) Part(group []int) ([]Sum, bool) {
	s = s.checked()
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

// partOf is the part of expr with so many ranks, all of which are inside.
func partOf(expr []int32, inside []bool, ranks int) ([]int32, bool) {
	type span struct{ from, in, out int } // where it begins, and ranks inside and not
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

// owners is the group of each rank.
func (s Spec) owners(groups [][]int) []int32 {
	owner, count := make([]int32, s.Size), 0
	for i := range owner {
		owner[i] = -1
	}
	for g, ranks := range groups {
		for _, r := range ranks {
			if r < 0 || r >= s.Size || owner[r] >= 0 {
				panic(fmt.Sprintf("BUG: schedule: the groups %v are not of %d ranks, each once", groups, s.Size))
			}
			owner[r] = int32(g)
			count++
		}
	}
	if count != s.Size || slices.ContainsFunc(groups, func(g []int) bool { return len(g) == 0 }) {
		panic(fmt.Sprintf("BUG: schedule: the groups %v are not of %d ranks, each once", groups, s.Size))
	}
	return owner
}

// quotum is an operand: some ranks of a group that is not complete, or a sum of
// whole groups.
type quotum struct {
	group int32
	ranks int     // of the group, so far
	expr  []int32 // of whole groups; nil: the group is not complete
}

// divide replaces each whole group in expr by its number.
func divide(expr, owner []int32, groups [][]int) ([]int32, bool) {
	var stack []quotum
	for _, x := range expr {
		var q quotum
		if x != Join {
			q = quotum{group: owner[x], ranks: 1}
		} else {
			a, b := stack[len(stack)-2], stack[len(stack)-1]
			stack = stack[:len(stack)-2]
			switch {
			case a.expr != nil && b.expr != nil:
				q.expr = append(append(a.expr, b.expr...), Join)
			case a.expr == nil && b.expr == nil && a.group == b.group:
				q = quotum{group: a.group, ranks: a.ranks + b.ranks}
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
