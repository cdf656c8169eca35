// SPDX-License-Identifier: Apache-2.0

package batchstage

import "testing"

// A slow network chooses the solver with few vectors, a fast one that with few passes, unless the
// examples are too few for it.
func TestCostsChoose(t *testing.T) {
	for _, tc := range []struct {
		costs    costs
		features int
		want     Method
	}{
		{costs{pass: 1, reduce: 0, examples: 32561}, 124, Newton},
		{costs{pass: 1, reduce: 0.1, examples: 32561}, 124, Newton},
		{costs{pass: 1, reduce: 1.2, examples: 32561}, 124, Pairs},
		{costs{pass: 0.1, reduce: 5, examples: 32561}, 124, GIANT},
		{costs{pass: 1, reduce: 0, examples: 25000}, 81055, Pairs},
		{costs{pass: 0.01, reduce: 1, examples: 25000}, 81055, GIANT},
	} {
		if got := tc.costs.best(tc.features); got != tc.want {
			t.Errorf("%+v, %d features: method %d, want %d", tc.costs, tc.features, got, tc.want)
		}
	}
}
