// SPDX-License-Identifier: Apache-2.0

package number

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestParse checks the number of bytes of a number, which TestExamplesAreThoseOfVW cannot
// show.
func TestParse(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		in string
		v  float32
		n  int
	}{
		{"", 0, 0},
		{"x", 0, 0},
		{"\t1", 0, 0},
		{" 1 2", 1, 2},
		{"1", 1, 1},
		{"-1.5 x", -1.5, 4},
		{"1|", 1, 1},
		{"1e", 1, 2},
		{"1e|", 1, 1},
		{"1e+5 ", 1e5, 4},
		{"-", 0, 1},
		{"-x", 0, 0},
		{".", 0, 1},
		{"-.e-", 0, 4},
		{"0x1fp-1|", 15.5, 7},
		{"0x", 0, 1},
		{"0xg", 0, 1},
		{"0x.", 0, 1},
		{"INFINITY", inf, 8},
		{"-infinit", -inf, 4},
		{"1e99|", inf, 4},
		{"1e-99|", 0, 5},
		{"\r1|", 1, 2},
		{"1.2.3", 1.2, 3},
		{"16777217 ", 16777216, 8},
		{"+x", 0, 0},
		{"1_0", 1, 1},
	} {
		if v, n := Parse([]byte(c.in)); v != c.v || n != c.n {
			t.Errorf("%q: got %v, %d bytes; want %v, %d", c.in, v, n, c.v, c.n)
		}
	}
	for in, want := range map[string]int{"nan": 3, "-NaN x": 4, "nan(a_1)x": 8, "nan(a b)": 3, "nan(": 3} {
		if v, n := Parse([]byte(in)); v == v || n != want {
			t.Errorf("%q: got %v, %d bytes; want NaN, %d", in, v, n, want)
		}
	}
}

// TestShortDecimalsAreNearest: numbers of at most 7 digits have only two rounding errors: that
// of vw's table of powers and that of the product.
func TestShortDecimalsAreNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.IntRange(0, 9999999).Draw(t, "digits")
		decimals := rapid.IntRange(0, 6).Draw(t, "decimals")
		exact := float64(digits) / math.Pow10(decimals)
		text := fmt.Sprintf("%.*f", decimals, exact)
		v, n := Parse([]byte(text + " "))
		if n != len(text) || math.Abs(float64(v)-exact) > 4e-7*exact {
			t.Fatalf("%q: got %v, %d bytes", text, v, n)
		}
	})
}
