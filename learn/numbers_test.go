// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/optimtest"
	"github.com/gvw-project/gvw/option"
)

// TestWeightsThatOccur: a table of which few weights occur gives the weights of a small table, in which
// most occur, so that the solver has vectors over all. The ranks have seen different weights.
func TestWeightsThatOccur(t *testing.T) {
	const n = 12
	points := optimtest.RandomPoints(5, 240, n, optimtest.Sign)
	methods := map[string]func(*Config){
		"Newton with a sample": func(c *Config) {
			c.Batch.BFGS, c.Batch.Solver, c.Batch.HessianSample = true, "newton", 0.5
		},
		"GIANT": func(c *Config) { c.Batch.BFGS, c.Batch.Solver = true, "giant" },
	}
	for name, method := range batchMethods {
		methods[name] = method
	}
	for _, name := range sampled.Race(t, sampled.Short(t, slices.Sorted(maps.Keys(methods)), 0, 3), 1, 3) {
		method := methods[name]
		for _, ranks := range []int{1, 3} {
			train := func(bits uint, cache bool) []float32 {
				t.Helper()
				set := func(c *Config) {
					c.Features = FeatureConfig{Bits: bits, NoConstant: true}
					c.Loss.Function, c.Reg.L2, c.Passes, c.Batch.Termination = "logistic", 1, 25, option.Some[float64](0)
					method(c)
				}
				var out files
				_, errs := runRanks(t, deal(pointsText(points), ranks), func(rank int, c *Config) {
					set(c)
					if cache { // so that the examples are in memory from the second pass on
						c.Data.Cache = filepath.Join(t.TempDir(), "cache")
					}
					c.Output.Create, c.Model.Final = out.create, fmt.Sprint(rank)
				})
				if err := errors.Join(errs...); err != nil {
					t.Fatalf("%s, %d ranks, 2^%d weights: %v", name, ranks, bits, err)
				}
				r, err := model.Read(bytes.NewReader(out.m["0"]), model.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				w := make([]float32, 1<<bits)
				copy(w, r.Weights.Data)
				return w
			}
			want := train(4, false)
			for _, cache := range []bool{false, true} {
				got := train(20, cache)
				for i, w := range got {
					if i < len(want) && !(math.Abs(float64(w-want[i])) <= 1e-4) || i >= len(want) && w != 0 {
						t.Errorf("%s, %d ranks, cache %t: weight %d is %v, want %v", name, ranks, cache, i, w, want[i%16])
					}
				}
			}
		}
	}
}
