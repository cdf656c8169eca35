// SPDX-License-Identifier: Apache-2.0

package loss

import (
	"fmt"
	"math"
	"testing"
)

// The recorded lines are those of vw 9.11.9 on examples with these labels.
func TestBestConstantAsVW(t *testing.T) {
	const none = math.MaxFloat32
	for _, c := range []struct {
		loss, name string
		s          LabelStats
		want       string
	}{
		{"squared", "1 1", LabelStats{Weight: 2, Sum: 2, First: 1, Second: none}, "1.000000 0.000000"},
		{"squared", "0 0", LabelStats{Weight: 2, Sum: 0, First: 0, Second: none}, ""},
		{"squared", "1 3", LabelStats{Weight: 2, Sum: 4, First: 1, Second: 3}, "2.000000 1.000000"},
		{"squared", "1 3 2", LabelStats{Weight: 3, Sum: 6, First: 1, Second: 3, More: true}, "2.000000 NaN"},
		{"squared", "1 weighing 0.5, 2 weighing 0.25", LabelStats{Weight: 0.75, Sum: 1, First: 1, Second: 2}, "1.333333 0.222222"},
		{"squared", "none", LabelStats{First: none, Second: none}, ""},
		{"squared", "1 weighing 0", LabelStats{First: 1, Second: none}, ""},
		{"logistic", "1 -1 1", LabelStats{Weight: 3, Sum: 1, First: 1, Second: -1}, "0.693147 0.636514"},
		{"logistic", "1 1 1", LabelStats{Weight: 3, Sum: 3, First: 1, Second: none}, "1.000000 0.313262"},
		{"logistic", "-1 -1 -1", LabelStats{Weight: 3, Sum: -3, First: -1, Second: none}, "-1.000000 0.313262"},
		{"logistic", "0 1 0", LabelStats{Weight: 3, Sum: 1, First: 0, Second: 1}, "-0.693147 0.636514"},
		{"logistic", "0.5 0 0.3", LabelStats{Weight: 3, Sum: 0.8, First: 0.5, Second: 0, More: true}, ""},
		{"logistic", "1000 of -1 and 1", LabelStats{Weight: 1000, Sum: -18, First: -1, Second: 1}, "-0.036004 0.692985"},
		{"hinge", "1 -1", LabelStats{Weight: 2, Sum: 0, First: 1, Second: -1}, "-1.000000 1.000000"},
		{"hinge", "1 1 -1", LabelStats{Weight: 3, Sum: 1, First: 1, Second: -1}, "1.000000 0.666667"},
		{"quantile", "1 1 3", LabelStats{Weight: 3, Sum: 5, First: 1, Second: 3}, "3.000000 0.933333"},
		{"quantile", "1 3 3 3", LabelStats{Weight: 4, Sum: 10, First: 1, Second: 3}, "3.000000 0.350000"},
		{"expectile", "1 2", LabelStats{Weight: 2, Sum: 3, First: 1, Second: 2}, ""},
	} {
		c.s.None = none
		got := ""
		fn, err := NewWith(c.loss, Params{Tau: 0.3, Expectile: 0.3})
		if err != nil {
			t.Fatal(err)
		}
		if b, l, ok := BestConstant(fn, c.s); ok {
			got = fmt.Sprintf("%f %f", b, l)
		}
		if got != c.want {
			t.Errorf("%s, labels %s: %q, want %q", c.loss, c.name, got, c.want)
		}
	}
}
