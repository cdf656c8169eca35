// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"
	"strconv"
)

// Sum describes how a range of the result is computed from the contributions.
type Sum struct {
	Lo, Hi int // in bytes
	// Expr is the sum in postfix order. A rank stands for its contribution, Join for
	// the join of the two operands before it, in their order.
	Expr []int32
}

// Join is the operator in Sum.Expr.
const Join int32 = -1

// String writes the sum with parentheses: ((0+1)+2).
func (s Sum) String() string {
	var stack []string
	for _, x := range s.Expr {
		if x != Join {
			stack = append(stack, strconv.Itoa(int(x)))
			continue
		}
		top := len(stack) - 1
		stack[top-1] = "(" + stack[top-1] + "+" + stack[top] + ")"
		stack = stack[:top]
	}
	if len(stack) != 1 {
		return "no sum"
	}
	return stack[0]
}

func (s Sum) equal(t Sum) bool { return s.Lo == t.Lo && s.Hi == t.Hi && slices.Equal(s.Expr, t.Expr) }

// Sums returns the additions of an all-reduce: one Sum per range, which together cover the
// vector. [Execute] derives the same sums from the programs. A ring or a direct exchange
// of a long vector has N sums of N ranks.
func (s Spec) Sums() []Sum {
	s = s.withDefaults()
	if s.Bytes == 0 {
		return nil
	}
	switch s.Schedule {
	case Doubling, Halving:
		return s.oneSum(appendFold(nil, foldOf(s.Size), 0, foldOf(s.Size).places))
	case BinaryTree, VWTree:
		t := s.tree()
		return s.oneSum(appendTree(nil, t, rootOf(t)))
	case DoubleTree:
		return s.doubleTreeSums()
	case Ring:
		return s.segmentSums(s.Cut, appendRing)
	case Direct:
		return s.segmentSums(s.directCut, appendDirect)
	}
	panic("BUG: schedule: no sums for " + s.Schedule.String())
}

// oneSum returns a single sum for the whole vector.
func (s Spec) oneSum(expr []int32) []Sum { return []Sum{{0, s.Bytes, expr}} }

// segmentSums returns one sum per segment, cut(k) … cut(k+1), which expr appends.
func (s Spec) segmentSums(cut func(int) int, expr func(dst []int32, n, k int) []int32) []Sum {
	if s.Size == 1 {
		return s.oneSum([]int32{0})
	}
	var sums []Sum
	for k := range s.Size {
		if lo, hi := cut(k), cut(k+1); lo < hi {
			sums = append(sums, Sum{lo, hi, expr(make([]int32, 0, 2*s.Size-1), s.Size, k)})
		}
	}
	return merge(sums)
}

// merge joins adjacent ranges with the same sum.
func merge(sums []Sum) []Sum {
	out := sums[:0]
	for _, x := range sums {
		if last := len(out) - 1; last >= 0 && out[last].Hi == x.Lo && slices.Equal(out[last].Expr, x.Expr) {
			out[last].Hi = x.Hi
			continue
		}
		out = append(out, x)
	}
	return out
}

// appendFold appends the sum of the places lo … hi-1, whose number is a power of two.
func appendFold(dst []int32, f fold, lo, hi int) []int32 {
	if hi-lo > 1 {
		dst = appendFold(dst, f, lo, (lo+hi)/2)
		dst = appendFold(dst, f, (lo+hi)/2, hi)
		return append(dst, Join)
	}
	first := int32(f.first(lo))
	if f.paired(lo) {
		return append(dst, first, first+1, Join)
	}
	return append(dst, first)
}

// appendTree appends the sum of rank's subtree.
func appendTree(dst []int32, t Tree, rank int) []int32 {
	left, right := t.Children(rank)
	if left != None {
		dst = appendTree(dst, t, left)
	}
	dst = append(dst, int32(rank))
	if left != None {
		dst = append(dst, Join)
	}
	if right != None {
		dst = append(appendTree(dst, t, right), Join)
	}
	return dst
}

// rootOf returns the rank of t without a parent.
func rootOf(t Tree) int {
	r := 0
	for t.Parent(r) != None {
		r = t.Parent(r)
	}
	return r
}

// appendRing appends the sum of segment k. It starts at rank k and continues after the
// last rank at rank 0, whose contribution then becomes the first operand.
func appendRing(dst []int32, n, k int) []int32 {
	if k > 0 {
		dst = append(dst, 0)
	}
	for r := k; r < n; r++ {
		dst = append(dst, int32(r))
		if r > k {
			dst = append(dst, Join)
		}
	}
	if k > 0 {
		dst = append(dst, Join)
	}
	for r := 1; r < k; r++ {
		dst = append(dst, int32(r), Join)
	}
	return dst
}

// appendDirect appends the sum that rank k computes of its segment.
func appendDirect(dst []int32, n, k int) []int32 {
	for r := range k + 1 {
		dst = append(dst, int32(r))
	}
	for range k {
		dst = append(dst, Join)
	}
	for r := k + 1; r < n; r++ {
		dst = append(dst, int32(r), Join)
	}
	return dst
}
