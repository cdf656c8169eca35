// SPDX-License-Identifier: Apache-2.0

package feature_test

import (
	"fmt"
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
