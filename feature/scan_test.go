// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// The fast loop and the plain one return the same features for every line.
func TestFastScanIsPlainScan(t *testing.T) {
	text, err := os.ReadFile("testdata/lines.vw")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(text, []byte("\n")) {
		comparePaths(t, line)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		comparePaths(t, randomLine(rng))
	}
}

// FuzzScan: the same for any bytes.
func FuzzScan(f *testing.F) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		f.Add(randomLine(rng))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if len(line) < 1<<12 {
			comparePaths(t, line)
		}
	})
}

// randomLine returns a line of features that the fast loop handles and of some that it just
// cannot.
func randomLine(rng *rand.Rand) []byte {
	words := []string{
		"a", "w12", "w123456", "w1234567", "12", "0", "9999999", "12345678", "1a", "a1", "é", "", "x\x00y", "b\r", "-", "-1",
		":1", ":0.5", ":-0.25", ":12.3456", ":123.4567", ":.5", ":5.", ":.", ":-", ":", ":0", ":-0.0", ":1e3", ":red", ":1.2.3", ":+1", ":1x", ":0:1", ":1234567", ":12345678", ":-1234567",
		"abcdefghi", "abcdefghijk", "abcdefghijkl", "abcdefghijklm", "abcdefghijklmno", "abcdefghijklmnop", "été_été_été", "-abcdefgh", "1bcdefghij", " w333333333", " w4444444444444:0.5",
		" ", "  ", "\t", " |b ", "|c:2 ", " |d:-0.5 ", " |e:0 ", ":nan", ":inf", " w1", " w22", " w333", " f1:0.12345", " f22:-1.5",
	}
	line := []byte("1 |a")
	for range rng.IntN(60) {
		if rng.IntN(3) > 0 {
			line = append(line, ' ')
		}
		line = append(line, words[rng.IntN(len(words))]...)
	}
	return line
}

func comparePaths(t *testing.T, line []byte) {
	t.Helper()
	for _, hashAll := range []bool{false, true} {
		var got, want Batch
		for _, b := range []*Batch{&got, &want} {
			p, err := NewParser(Config{Bits: 20, HashAll: hashAll})
			if err != nil {
				t.Fatal(err)
			}
			p.fast = p.fast && b == &got
			if err := p.AppendLine(b, bytes.Clone(line), 1); err != nil {
				t.Fatal(err)
			}
		}
		if len(got.Features) != len(want.Features) {
			t.Fatalf("%q, hash all %t: %d features, want %d", line, hashAll, len(got.Features), len(want.Features))
		}
		for i, g := range got.Features {
			if w := want.Features[i]; g.Index != w.Index || math.Float32bits(g.Value) != math.Float32bits(w.Value) {
				t.Fatalf("%q, hash all %t: feature %d is %v, want %v", line, hashAll, i, g, w)
			}
		}
		if len(got.Warnings) != len(want.Warnings) {
			t.Fatalf("%q: %d warnings, want %d", line, len(got.Warnings), len(want.Warnings))
		}
	}
}
