// SPDX-License-Identifier: Apache-2.0

package optimtest

import (
	"math"
	"math/rand/v2"
)

// Point is an example.
type Point struct {
	Label, Weight float32
	Index         []uint32
	Value         []float32
}

// RandomPoints returns points over n weights, the last of which is the constant. label returns
// the label of a point for its score under the true weights.
func RandomPoints(seed uint64, count, n int, label func(z float64, r *rand.Rand) float32) []Point {
	r := rand.New(rand.NewPCG(seed, 1))
	truth := make([]float64, n)
	for i := range truth {
		truth[i] = r.NormFloat64()
	}
	points := make([]Point, count)
	for k := range points {
		p := &points[k]
		p.Weight = 0.5 + r.Float32()
		var z float64
		for i := range n {
			if i < n-1 && r.Float64() < 0.5 {
				continue
			}
			v := float32(1)
			if i < n-1 {
				v = float32(r.NormFloat64())
			}
			p.Index = append(p.Index, uint32(i))
			p.Value = append(p.Value, v)
			z += truth[i] * float64(v)
		}
		p.Label = label(z, r)
	}
	return points
}

// Sign returns the sign of z with noise.
func Sign(z float64, r *rand.Rand) float32 {
	if z+r.NormFloat64() > 0 {
		return 1
	}
	return -1
}

// Noisy returns z with noise.
func Noisy(z float64, r *rand.Rand) float32 { return float32(z + 0.3*r.NormFloat64()) }

// Count returns a number of the Poisson distribution with mean exp(z/4).
func Count(z float64, r *rand.Rand) float32 {
	limit, product := math.Exp(-math.Exp(z/4)), r.Float64()
	k := 0
	for ; product > limit; k++ {
		product *= r.Float64()
	}
	return float32(k)
}
