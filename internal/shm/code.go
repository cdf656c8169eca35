// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"math/bits"

	"github.com/gvw-project/gvw/allreduce/schedule"
)

// Program is how a range of a vector is summed in shared memory: folds, one after the
// other. The last one makes the result.
type Program struct {
	lo, hi int
	folds  []sumN
	temps  int // how many sums must be kept on the way
}

// sumN is ((of[0] + of[1]) + of[2]) + …; the operands are ranks, or ^t for the
// sum in the t-th place.
type sumN struct {
	into int // the place; -1: it is the result
	of   []int32
}

// Compile makes folds of sums, as long as they can be. What commutes may change places, for then
// the bits stay: a + b is b + a.
func Compile(sums []schedule.Sum, commutes bool) []Program {
	var codes []Program
	for _, x := range sums {
		c := coder{commutes: commutes, prog: Program{lo: x.Lo, hi: x.Hi}}
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

// coder makes the code of one sum.
type coder struct {
	commutes bool
	prog     Program
	used     uint64 // places that hold what is still wanted
}

// join makes one fold of two, one of which may have to end for that.
func (c *coder) join(a, b []int32) []int32 {
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

// fold ends a fold. Its operands are wanted no more.
func (c *coder) fold(into int, of []int32) {
	c.prog.folds = append(c.prog.folds, sumN{into, of})
	for _, x := range of {
		if x < 0 {
			c.used &^= 1 << ^x
		}
	}
}
