// SPDX-License-Identifier: Apache-2.0

package output

import "testing"

func TestAppendPrediction(t *testing.T) {
	for _, c := range []struct {
		v    float32
		want string
	}{
		{0, "0"},
		{1, "1"},
		{-50, "-50"},
		{0.297812, "0.297812"},
		{-0.059817, "-0.059817"},
		{1e9, "1000000000"},
		{1.5e-9, "0.000000"},
	} {
		if got := string(appendPrediction(nil, c.v)); got != c.want {
			t.Errorf("%v: got %q, want %q", c.v, got, c.want)
		}
	}
}
