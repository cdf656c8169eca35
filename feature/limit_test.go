// SPDX-License-Identifier: Apache-2.0

package feature_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/gvw-project/gvw/feature"
)

// The sums of squares that vw 9.11.9 reckons with, found from the first update
// that it makes with --invariant --noconstant -l 0.1 --feature_limit N.
func TestSumOfSquaresUnderLimitsIsVWs(t *testing.T) {
	for i, want := range []float64{0.74, 0.52, 0.95, 0.64, 0.64, 1.04} { // the last limit is not met
		limit := i + 1
		b := parse(t, feature.Config{Bits: 18, NoConstant: true, Limits: []string{strconv.Itoa(limit)}}, "1 |a x:0.1 y:0.2 z:0.3 x:0.5 y:0.4 w:0.7")
		got := float64(b.Examples[0].HiddenSquares)
		for _, f := range b.FeaturesOf(&b.Examples[0]) {
			got += float64(f.Value) * float64(f.Value)
		}
		if math.Abs(got-want) > 1e-3 {
			t.Errorf("--feature_limit %d: %v, vw has %v", limit, got, want)
		}
	}
}
