// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// blocks are groups of so many ranks each.
func blocks(counts ...int) (groups [][]int) {
	r := 0
	for _, n := range counts {
		g := []int{}
		for range n {
			g = append(g, r)
			r++
		}
		groups = append(groups, g)
	}
	return groups
}

func TestQuotient(t *testing.T) {
	for _, c := range []struct {
		name   Name
		groups [][]int
		want   Name // Auto: there is none
	}{
		{Doubling, blocks(4, 4), Doubling},
		{Doubling, blocks(4, 4, 4), Doubling},
		{Halving, blocks(2, 2, 2), Halving},
		{Halving, blocks(8, 8, 8, 8, 8, 8, 8), Halving},
		{Doubling, blocks(3, 3), Auto}, // (0+1)+(2+3) crosses
		{Doubling, [][]int{{0, 2}, {1, 3}}, Auto},
		{Doubling, [][]int{{2, 3}, {0, 1}}, Auto}, // the sum begins with group 1
		{Ring, blocks(2, 2), Auto},
		{Ring, blocks(5), Ring},
		{Ring, blocks(1, 1, 1), Ring},
		{BinaryTree, blocks(2, 1, 1), BinaryTree}, // ((0+1)+2)+3
		{BinaryTree, blocks(3, 1), BinaryTree},
		{BinaryTree, blocks(2, 2), Auto},
		{Direct, blocks(2, 2), Auto},
	} {
		size := 0
		for _, g := range c.groups {
			size += len(g)
		}
		got, ok := Spec{Schedule: c.name, Size: size, Bytes: 4096, Elem: 4}.Quotient(c.groups)
		if ok != (c.want != Auto) || got != c.want {
			t.Errorf("%v of %v: %v, %v; want %v", c.name, c.groups, got, ok, c.want)
		}
	}
}

// Put into the leaders' sum, the groups' own parts of the sum make it whole again:
// each group's ranks appear in it together, and as often as there are ranks.
func TestQuotientsAddTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 6).Draw(t, "group sizes")
		if rapid.Bool().Draw(t, "equal") {
			for i := range counts {
				counts[i] = counts[0]
			}
		}
		groups := blocks(counts...)
		s := Spec{Schedule: rapid.SampledFrom(Names).Draw(t, "schedule"), Bytes: 4096, Elem: 4}
		for _, n := range counts {
			s.Size += n
		}
		name, ok := s.Quotient(groups)
		if !ok {
			return
		}
		among := s
		among.Schedule, among.Size = name, len(groups)
		leaders := among.Sums()
		for _, whole := range s.Sums() {
			at := slices.IndexFunc(leaders, func(x Sum) bool { return x.Lo <= whole.Lo && whole.Hi <= x.Hi })
			if at < 0 {
				t.Fatalf("bytes %d to %d are not one range among the leaders", whole.Lo, whole.Hi)
			}
			if got := substitute(leaders[at].Expr, whole.Expr, groups); !slices.Equal(got, whole.Expr) {
				t.Fatalf("%v of %v among leaders makes %v, want %v", name, groups, Sum{Expr: got}, whole)
			}
		}
	})
}

// substitute replaces each group's number in expr by its subexpression of whole.
func substitute(expr, whole []int32, groups [][]int) (out []int32) {
	for _, x := range expr {
		if x == Join {
			out = append(out, Join)
			continue
		}
		first := slices.IndexFunc(whole, func(r int32) bool { return r != Join && slices.Contains(groups[x], int(r)) })
		depth := 0
		for i, end := first, len(groups[x]); i < len(whole); i++ {
			if whole[i] != Join {
				depth++
				end--
			} else {
				depth--
			}
			out = append(out, whole[i])
			if end == 0 && depth == 1 {
				break
			}
		}
	}
	return out
}
