// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce/schedule"
)

// written is what a code computes, with parentheses.
func (c Program) written() string {
	temps := make([]string, c.temps)
	text := ""
	for _, f := range c.sums {
		text = ""
		for i, x := range f.of {
			operand := fmt.Sprint(x)
			if x < 0 {
				operand = temps[^x]
			}
			if i == 0 {
				text = operand
			} else {
				text = "(" + text + "+" + operand + ")"
			}
		}
		if f.into >= 0 {
			temps[f.into] = text
		}
	}
	return text
}

// TestProgramsKeepTheOrder checks that a program whose operands must not change places is the sum
// itself, for every schedule and number of ranks.
func TestProgramsKeepTheOrder(t *testing.T) {
	for _, name := range schedule.Names {
		for size := 2; size <= 33; size++ {
			s := schedule.Spec{Schedule: name, Size: size, Bytes: 4096, Elem: 4}
			sums := s.Sums()
			for i, c := range Compile(sums, false) {
				if got, want := c.written(), sums[i].String(); got != want || c.lo != sums[i].Lo || c.hi != sums[i].Hi {
					t.Fatalf("%v of %d: got %s, want %s", name, size, got, want)
				}
			}
		}
	}
}

// TestProgramsAreShort checks that a chain of additions is one sum, for operands at either end,
// and that the sum of two chains is two.
func TestProgramsAreShort(t *testing.T) {
	const j = schedule.Join
	for _, c := range []struct {
		expr []int32
		want []sumN
	}{
		{[]int32{0, 1, j, 2, j, 3, j}, []sumN{{-1, []int32{0, 1, 2, 3}}}},
		{[]int32{0, 2, 3, j, j, 1, j}, []sumN{{-1, []int32{2, 3, 0, 1}}}}, // (0+(2+3))+1
		{[]int32{0, 1, j, 2, 3, j, j}, []sumN{{0, []int32{2, 3}}, {-1, []int32{0, 1, -1}}}},
		{[]int32{5}, []sumN{{-1, []int32{5}}}},
	} {
		got := Compile([]schedule.Sum{{Lo: 0, Hi: 4, Expr: c.expr}}, true)
		if d := cmp.Diff(c.want, got[0].sums, cmp.AllowUnexported(sumN{})); d != "" {
			t.Errorf("%v:\n%s", schedule.Sum{Expr: c.expr}, d)
		}
	}
}
