// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/internal/fmath"
)

func TestExpDigammasHaveTheBitsOfOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := []float32{0, 1e-45, 1e-30, 1e-3, 0.01, 0.045, 0.1, 1, 3, 1e6, 1e12, 1e25, math.MaxFloat32 / 4}
	for range 5000 {
		x = append(x, float32(math.Exp(rng.NormFloat64()*5)))
	}
	got := make([]float32, len(x))
	ExpDigammas(got, x)
	for i, v := range x {
		if want := fmath.ExpDigamma32(v); math.Float32bits(got[i]) != math.Float32bits(want) {
			t.Fatalf("ExpDigamma(%v): the vector has %v, one value %v", v, got[i], want)
		}
	}
	if ExpDigammas(x, x); !slices.Equal(x, got) {
		t.Error("in place the results differ")
	}
}

// The plain loops are those of rows; the kernels must have their bits for every width and number of rows.
func TestRowsHaveTheBitsOfPlainLoops(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	random := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = rng.Float32() + 1e-6
		}
		return v
	}
	for _, width := range []int{8, 16, 24, 32, 40, 64, 72, 104} {
		for _, n := range []int{0, 1, 2, 7, 50} {
			const rows = 20
			r := &Rows{Table: random(rows * width), Weight: random(n), Index: make([]uint32, n)}
			for i := range r.Index {
				r.Index[i] = uint32(rng.IntN(rows))
			}
			v := slices.Repeat([]float32{0.25, 3}, width/2)
			type results struct{ shares, dots, sum, table []float32 }
			fresh := func() results {
				return results{make([]float32, n), make([]float32, n), slices.Repeat([]float32{7}, width), slices.Repeat([]float32{0.5}, rows*width)}
			}
			got, want := fresh(), fresh()
			r.Divide(got.shares, got.dots, v)
			r.Combine(got.sum, got.shares)
			r.Add(got.table, got.shares, v)
			r.dividePlain(want.shares, want.dots, v)
			r.combinePlain(want.sum, want.shares)
			r.addPlain(want.table, want.shares, v)
			if !slices.Equal(got.shares, want.shares) || !slices.Equal(got.dots, want.dots) || !slices.Equal(got.sum, want.sum) || !slices.Equal(got.table, want.table) {
				t.Fatalf("width %d, %d rows: got %v, the plain loops have %v", width, n, got, want)
			}
		}
	}
}
