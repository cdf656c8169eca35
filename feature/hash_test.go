// SPDX-License-Identifier: Apache-2.0

package feature_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/twmb/murmur3"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
)

func TestMurmur3IsThatOfOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "data")
		seed := rapid.Uint32().Draw(t, "seed")
		if got, want := feature.Murmur3(data, seed), murmur3.SeedSum32(seed, data); got != want {
			t.Fatalf("got %#x, want %#x", got, want)
		}
	})
}

func TestHashStrings(t *testing.T) {
	for _, c := range []struct {
		in   string
		seed uint32
		want uint32
	}{
		{"", 5, 5},
		{" \t", 5, 5},
		{"12", 0, 12},
		{" 12\x00", 3, 15},
		{"0012", 3, 15},
		{"4294967296", 1, 1},
		{"99999999999999999999", 0, 99999999999999999999 % (1 << 32)},
		{"12a", 7, murmur3.SeedSum32(7, []byte("12a"))},
		{"\x01x ", 7, murmur3.SeedSum32(7, []byte("x"))},
		{"\x80x", 7, murmur3.SeedSum32(7, []byte("\x80x"))},
	} {
		if got := feature.HashStrings([]byte(c.in), c.seed); got != c.want {
			t.Errorf("%q, %d: got %d, want %d", c.in, c.seed, got, c.want)
		}
	}
}

// TestShortNamesHashLikeLongOnes drives the parser's fast path, which hashes
// names of up to 7 bytes without a loop.
func TestShortNamesHashLikeLongOnes(t *testing.T) {
	name := rapid.SliceOfN(rapid.ByteRange('a', 'z'), 1, 12)
	rapid.Check(t, func(t *rapid.T) {
		f := name.Draw(t, "name")
		p, err := feature.NewParser(feature.Config{Bits: 32})
		if err != nil {
			t.Fatal(err)
		}
		var b feature.Batch
		line := fmt.Appendf(nil, "|n %s %s:2       ", f, f)
		if err := p.AppendLine(&b, line, 1); err != nil {
			t.Fatal(err)
		}
		want := murmur3.SeedSum32(murmur3.SeedSum32(0, []byte("n")), f)
		if b.Features[0] != (feature.Feature{Index: want, Value: 1}) || b.Features[1] != (feature.Feature{Index: want, Value: 2}) {
			t.Fatalf("got %v, want %d", b.Features, want)
		}
	})
}

// TestParseFloat checks the number of bytes of a number, which TestExamplesAreThoseOfVW cannot
// show.
func TestParseFloat(t *testing.T) {
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
		if v, n := feature.ParseFloat([]byte(c.in)); v != c.v || n != c.n {
			t.Errorf("%q: got %v, %d bytes; want %v, %d", c.in, v, n, c.v, c.n)
		}
	}
	for in, want := range map[string]int{"nan": 3, "-NaN x": 4, "nan(a_1)x": 8, "nan(a b)": 3, "nan(": 3} {
		if v, n := feature.ParseFloat([]byte(in)); v == v || n != want {
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
		v, n := feature.ParseFloat([]byte(text + " "))
		if n != len(text) || math.Abs(float64(v)-exact) > 4e-7*exact {
			t.Fatalf("%q: got %v, %d bytes", text, v, n)
		}
	})
}
