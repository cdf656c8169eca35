// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"strings"
	"testing"
)

// The weights of a hexadecimal text are spelled as vw 9.11.9 spells them.
func TestHexWeights(t *testing.T) {
	for _, c := range []struct {
		v    float32
		want string
	}{
		{1, "0x1p+0"},
		{-0.210608, "-0x1.af534p-3"},
		{1e-44, "0x1.cp-147"},
		{0, "0x0p+0"},
		{math.MaxFloat32, "0x1.fffffep+127"},
		{1024, "0x1p+10"},
		{float32(math.Inf(-1)), "-inf"},
	} {
		if got := string(appendHex(nil, float64(c.v), 32)); got != c.want {
			t.Errorf("%g: %s, want %s", c.v, got, c.want)
		}
	}
	r := &Regressor{Header: Header{Bits: 1}, Weights: View{Data: []float32{0.5, 0}}}
	var b strings.Builder
	if err := WriteHex(&b, r, func(uint32) (string, bool) { return "a^b", true }); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(b.String(), "\n:0\na^b:0:0x1p-1\n") || !strings.Contains(b.String(), "Max label:0\n") {
		t.Errorf("the text is\n%s", b.String())
	}
}
