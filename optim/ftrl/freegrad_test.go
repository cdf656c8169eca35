// SPDX-License-Identifier: Apache-2.0

package ftrl

import (
	"testing"

	"github.com/gvw-project/gvw/feature"
)

// TestProjectionAsVW holds predictions and sums against vw 9.11.9 on
//
//	1 | a:3 b
//	-1 2 | a:40
//	3 | a:500
//	1 | b a:0.1
//
// with -b 8: gradients grow, so sums begin again, weights leave the ball and gradients are tilted.
func TestProjectionAsVW(t *testing.T) {
	lines := []struct {
		label, weight float32
		fs            []feature.Feature
	}{
		{1, 1, []feature.Feature{{Index: a, Value: 3}, {Index: b, Value: 1}, {Index: constant, Value: 1}}},
		{-1, 2, []feature.Feature{{Index: a, Value: 40}, {Index: constant, Value: 1}}},
		{3, 1, []feature.Feature{{Index: a, Value: 500}, {Index: constant, Value: 1}}},
		{1, 1, []feature.Feature{{Index: b, Value: 1}, {Index: a, Value: 0.1}, {Index: constant, Value: 1}}},
	}
	for _, c := range []struct {
		options FreeGradConfig
		losses  [4]float32
		weights map[int][]float32
	}{
		{FreeGradConfig{Wealth: 1, Restart: true, Project: true, Radius: 0.01}, [4]float32{1, 1.663877, 16, 0.997765}, map[int][]float32{
			a: {19.614, -103.169, 10648.8, 4000, 4000, 3.00001}, b: {0.232041, -3.99512, 11.9805, 2, 2, 0.99756}, constant: {7.4892e-09, -1.99776, 29.3021, 2, 8, 3.24972},
		}},
		{FreeGradConfig{Wealth: 0.1, Lipschitz: 3, Project: true}, [4]float32{1, 1.828226, 9.228331, 0.922849}, map[int][]float32{
			a: {4.65044e-07, -3.19213, 23482.3, 3, 3037.82, 3.00006}, b: {0.0412009, -3.9213, 11.6914, 3, 3, 0.640434}, constant: {-0.00185142, -1.51282, 35.3172, 3, 6.07563, 3.11906},
		}},
	} {
		cfg := defaults(FreeGrad)
		cfg.FreeGrad = c.options
		lr := learner(t, cfg)
		for i, line := range lines {
			ex := feature.Example{Label: line.label, Weight: line.weight}
			lr.Range = lr.Range.Include(ex.Label)
			if _, _, l := lr.Learn(line.fs, &ex); !near(l, c.losses[i]) {
				t.Errorf("%+v: example %d: loss %v, want %v", c.options, i+1, l, c.losses[i])
			}
		}
		for i, want := range c.weights {
			got := lr.Weights()[i*lr.Stride():]
			for k, v := range want {
				if !near(got[lr.Slots()[k]], v) {
					t.Errorf("%+v: weight %d: float %d is %v, want %v", c.options, i, k, got[k], v)
				}
			}
		}
	}
}

// Two examples whose gradients grow, the second one with a small importance weight, make a sum of
// squares negative. The predictions that follow are 0.
func TestUndefinedPredictionsAreZero(t *testing.T) {
	lr := learner(t, defaults(FreeGrad))
	for i, ex := range []feature.Example{{Label: 0.001, Weight: 0.1}, {Label: 100, Weight: 0.1}, {Label: 100, Weight: 0.1}} {
		lr.Range = lr.Range.Include(ex.Label)
		raw, p, _ := lr.Learn([]feature.Feature{{Index: 1, Value: 1}}, &ex)
		if raw != raw || p != p {
			t.Errorf("example %d: prediction %v, %v", i+1, raw, p)
		}
	}
	ex := feature.Example{Label: 1}
	if raw, _, _ := lr.Learn([]feature.Feature{{Index: 1, Value: 1}}, &ex); raw != 0 {
		t.Errorf("prediction %v without learning, want 0", raw)
	}
	if lr.Undefined != 1 {
		t.Errorf("%d predictions were no numbers, want 1", lr.Undefined)
	}
}
