// SPDX-License-Identifier: Apache-2.0

package sgd

import "testing"

// BenchmarkPrefetch passes over 40,000 examples of 75 features in 2^22 weights. It names the features of later examples,
// as a pass does, or none; an operation is one example.
func BenchmarkPrefetch(b *testing.B) {
	const distance = 128
	data := batch(40_000, 75, 22)
	for _, c := range []struct {
		name             string
		learns, prefetch bool
	}{
		{"learn", true, true},
		{"learn, without", true, false},
		{"predict", false, true},
		{"predict, without", false, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			lr := learner(b, Flags{Bits: 22}.Config(), "logistic")
			lr.Expect(data.Features)
			learn(lr, data, 0, len(data.Examples))
			n := len(data.Examples) - distance
			i := 0
			for b.Loop() {
				ex := &data.Examples[i]
				if c.prefetch {
					lr.Prefetch(data.Features[ex.FeatHi+distance : data.Examples[i+1].FeatHi+distance])
				}
				if c.learns {
					lr.Learn(data.FeaturesOf(ex), ex)
				} else {
					lr.Predict(data.FeaturesOf(ex), 0)
				}
				i = (i + 1) % n
			}
		})
	}
}
