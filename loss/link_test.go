// SPDX-License-Identifier: Apache-2.0

package loss

import (
	"math"
	"strings"
	"testing"
)

func TestLinks(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(float64) float64
	}{
		{"identity", func(p float64) float64 { return p }},
		{"logistic", func(p float64) float64 { return 1 / (1 + math.Exp(-p)) }},
		{"glf1", func(p float64) float64 { return math.Tanh(p / 2) }},
		{"poisson", math.Exp},
	} {
		l, err := NewLink(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if l.Name() != c.name {
			t.Errorf("link %q is called %q", c.name, l.Name())
		}
		for _, p := range []float32{-50, -3, -0.25, 0, 0.7, 2, 50} {
			if got, want := float64(l.Apply(p)), c.f(float64(p)); !near(got, want, 3e-7, 1e-6) {
				t.Errorf("%s(%v) = %v, want %v", c.name, p, got, want)
			}
		}
	}
}

func TestZeroLinkIsIdentity(t *testing.T) {
	var l Link
	if l.Apply(3) != 3 || l.Name() != "identity" {
		t.Errorf("the zero link is %s and makes 3 a %v", l.Name(), l.Apply(3))
	}
}

func TestUnknownLink(t *testing.T) {
	_, err := NewLink("logit")
	if err == nil || !strings.Contains(err.Error(), `"logit": use identity, logistic, glf1 or poisson`) {
		t.Errorf("error %v", err)
	}
}
