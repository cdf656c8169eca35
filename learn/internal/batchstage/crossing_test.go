// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/optim"
)

// The matrix of a pass is Σ l”xx' between its features, also where an example has one of them twice.
func TestCrossingIsTheHessian(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, a := drawBatch(t), newSummation(t, true)
		var features []uint32
		for i := range uint32(width) {
			if rapid.Bool().Draw(t, "is a feature") {
				features = append(features, i)
			}
		}
		kind := rapid.SampledFrom([]optim.Kind{optim.Gradient, optim.Matrix}).Draw(t, "kind")
		req := optim.Request{Kind: kind, X: vectorOf(t, "weights"), Features: append([]uint32{}, features...)}
		sums := &optim.Sums{Gradient: make([]float32, width)}
		a.begin(req, sums, 1)
		if err := a.batch(b); err != nil {
			t.Fatal(err)
		}
		if err := a.end(); err != nil {
			t.Fatal(err)
		}
		want := make([]float64, optim.Triangle(len(features)))
		for i := range b.Examples {
			var x [width]float64
			for _, f := range b.FeaturesOf(&b.Examples[i]) {
				x[f.Index] += float64(f.Value)
			}
			for r, p := range features {
				for c, q := range features[:r+1] {
					want[optim.Triangle(r)+c] += float64(a.terms[i].second) * x[p] * x[q]
				}
			}
		}
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-5*(1+math.Abs(b)) })
		if diff := cmp.Diff(want, append([]float64{}, sums.Matrix...), near); diff != "" {
			t.Fatalf("%v (-want +got):\n%s", kind, diff)
		}
	})
}

// However the rows are divided among threads, each element has the same bits.
func TestCrossingThreadsChangeNoBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, a := drawBatch(t), newSummation(t, true)
		req := optim.Request{Kind: optim.Matrix, X: vectorOf(t, "weights"), Features: []uint32{0, 1, 2, 3, 4, 5, 6, 7}}
		a.begin(req, &optim.Sums{}, 1)
		if err := a.batch(b); err != nil {
			t.Fatal(err)
		}
		want := a.matrix.appendTriangle(nil)
		a.matrix.begin(req.Features, width)
		for lo := 0; lo < width; {
			hi := rapid.IntRange(lo+1, width).Draw(t, "end of a part")
			a.cross(b, lo, hi)
			lo = hi
		}
		if diff := cmp.Diff(want, a.matrix.appendTriangle(nil)); diff != "" {
			t.Fatalf("(-one thread +several):\n%s", diff)
		}
	})
}
