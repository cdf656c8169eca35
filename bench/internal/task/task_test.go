// SPDX-License-Identifier: Apache-2.0

package task

import (
	"strings"
	"testing"
)

// A window of bases becomes all substrings of 1 to 3 bases with their positions, counted from 1. The values of all nine are 1/3.
func TestKmers(t *testing.T) {
	if got, want := Kmers("-1", "ACGT"), "-1 |p:0.333333 1A 2C 3G 4T 1AC 2CG 3GT 1ACG 2CGT"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Numbered features keep their identity over examples.
func TestNumbers(t *testing.T) {
	ex, err := parse(strings.NewReader("1 |a x y\n-1 |a y z\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := Number(ex); n != 4 { // x, y, z and the constant
		t.Errorf("got %d features, want 4", n)
	}
	if a, b := ex[0].Features[1], ex[1].Features[0]; a.Index != b.Index {
		t.Errorf("y has the numbers %d and %d", a.Index, b.Index)
	}
}
