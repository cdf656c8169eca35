// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"math/bits"

	"github.com/gvw-project/gvw/allreduce/schedule"
)

// Program is how a range of a vector is summed in shared memory: sums of several operands, one after
// the other. The last one makes the result.
type Program struct {
	lo, hi int
	sums   []sumN
	temps  int // how many sums must be kept on the way
}

// sumN is one sum: ((of[0] + of[1]) + of[2]) + …; the operands are ranks, or ^t for the
// sum in the t-th place.
type sumN struct {
	into int // the place; -1: it is the result
	of   []int32
}

// Compile makes programs with sums of as many operands as possible: each operand is then read once, and
// few temporary sums are written. With commutes the operands of one addition may change
// places. That changes no bit, since a + b is b + a; the grouping always stays.
func Compile(sums []schedule.Sum, commutes bool) []Program {
	var codes []Program
	for _, x := range sums {
		c := compiler{commutes: commutes, prog: Program{lo: x.Lo, hi: x.Hi}}
		var stack [][]int32
		for _, r := range x.Expr {
			if r != schedule.Join {
				stack = append(stack, []int32{r})
				continue
			}
			top := len(stack) - 1
			stack[top-1] = c.join(stack[top-1], stack[top])
			stack = stack[:top]
		}
		c.fold(-1, stack[0])
		codes = append(codes, c.prog)
	}
	return codes
}

// compiler makes the program of one sum.
type compiler struct {
	commutes bool
	prog     Program
	used     uint64 // places that hold what is still wanted
}

// join makes one sum of two. If both have several operands, b is summed to a temporary place first.
func (c *compiler) join(a, b []int32) []int32 {
	switch {
	case len(b) == 1:
		return append(a, b[0])
	case len(a) == 1 && c.commutes:
		return append(b, a[0])
	}
	t := bits.TrailingZeros64(^c.used)
	c.used |= 1 << t
	c.prog.temps = max(c.prog.temps, t+1)
	c.fold(t, b)
	return append(a, ^int32(t))
}

// fold ends a sum. The temporary places of its operands are free again.
func (c *compiler) fold(into int, of []int32) {
	c.prog.sums = append(c.prog.sums, sumN{into, of})
	for _, x := range of {
		if x < 0 {
			c.used &^= 1 << ^x
		}
	}
}
