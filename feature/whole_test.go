// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"slices"
	"testing"
)

// A batch keeps numbers beyond the table of anonymous features and n-grams, and those within the
// table of named ones; Reset and interactions drop them.
func TestWholeNumbersAreKept(t *testing.T) {
	t.Parallel()
	cfg := Config{Bits: 10, Whole: true, NGrams: []string{"b2"}}
	p, err := NewParser(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var b Batch
	for i, line := range []string{"1 |a x :2", "1 |b y z"} {
		if err := p.AppendLine(&b, []byte(line), int64(i)); err != nil {
			t.Fatal(err)
		}
	}
	x, y, z := uint64(cfg.Index("a", "x")), uint64(cfg.Index("b", "y")), uint64(cfg.Index("b", "z"))
	for i, want := range [][]uint64{{x, uint64(HashStrings([]byte("a"), 0)), 0}, {y, z, y*gram + z, 0}} {
		if got := b.WholeOf(&b.Examples[i]); !slices.Equal(got, want) {
			t.Errorf("example %d: got %d, want %d", i+1, got, want)
		}
	}
	ex := b.Examples[0]
	if b.Reset(); len(b.Whole) != 0 {
		t.Error("Reset left numbers")
	}
	cfg.Interactions = []string{"ab"}
	if p, err = NewParser(cfg); err != nil {
		t.Fatal(err)
	}
	if err := p.AppendLine(&b, []byte("1 |a x |b y"), 1); err != nil {
		t.Fatal(err)
	}
	if got := b.WholeOf(&ex); got != nil {
		t.Errorf("with interactions: got %d, want none", got)
	}
}
