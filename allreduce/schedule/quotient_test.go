// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// blocks returns groups of adjacent ranks with the given sizes.
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

// Substituting the groups' parts of the sum into the leaders' sum yields the sum of
// all ranks.
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
			for _, g := range groups {
				parts, ok := s.Part(g)
				if !ok || !slices.ContainsFunc(parts, func(x Sum) bool {
					return x.Lo <= whole.Lo && whole.Hi <= x.Hi && len(x.Expr) == 2*len(g)-1 && contains(whole.Expr, x.Expr)
				}) {
					t.Fatalf("bytes %d to %d: the part of ranks %v is %v, want one of %v", whole.Lo, whole.Hi, g, parts, whole)
				}
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

// contains reports whether part is a contiguous part of whole.
func contains(whole, part []int32) bool {
	for i := range len(whole) - len(part) + 1 {
		if slices.Equal(whole[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

func TestPart(t *testing.T) {
	s := Spec{Schedule: Doubling, Size: 6, Bytes: 64, Elem: 4} // ((0+1)+(2+3))+(4+5), by Sums
	for _, c := range []struct {
		group []int
		want  string
	}{
		{[]int{0, 1}, "(0+1)"}, {[]int{4}, "4"}, {[]int{1, 2}, ""}, {[]int{0, 1, 2, 3, 4, 5}, s.Sums()[0].String()},
	} {
		got, ok := s.Part(c.group)
		if ok != (c.want != "") || ok && (len(got) != 1 || got[0].String() != c.want) {
			t.Errorf("%v of %v: got %v, want %q", c.group, s.Sums(), got, c.want)
		}
	}
	s.Schedule = Ring
	if got, ok := s.Part([]int{0, 1}); ok {
		t.Errorf("ranks 0 and 1 of a ring: got %v", got)
	}
}

// Among keeps the steps of a program and changes only the ranks.
func TestAmong(t *testing.T) {
	leaders := []int{0, 3, 4, 9}
	for _, name := range Names {
		for rank, leader := range leaders {
			s := Spec{Schedule: name, Size: len(leaders), Bytes: 4096, Elem: 4}
			p := s.AllReduce(rank)
			q := p.Among(leaders)
			if q.Rank != leader || len(q.Steps) != len(p.Steps) || !slices.IsSorted(q.Peers) {
				t.Fatalf("%v: got the program of rank %d, %d steps, peers %v", name, q.Rank, len(q.Steps), q.Peers)
			}
			for i := range p.Steps {
				want := p.Steps[i]
				want.Peer = leaders[want.Peer]
				if got := q.Steps[i]; got.Peer != want.Peer || got.Act != want.Act || got.Lo != want.Lo || got.Hi != want.Hi {
					t.Errorf("%v: step %d of rank %d: got %+v, want %+v", name, i, leader, got, want)
				}
			}
			for i := range p.Peers {
				if q.Peers[i] != leaders[p.Peers[i]] {
					t.Errorf("%v: peers %v of %v", name, q.Peers, p.Peers)
				}
			}
		}
	}
}
