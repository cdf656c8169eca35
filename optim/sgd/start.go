// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"math"

	"github.com/gvw-project/gvw/internal/fmath"
	"github.com/gvw-project/gvw/internal/merand"
)

// Start selects the initial weights. Only the first field that is set counts, in this order,
// besides Seed; the zero value is weights of zero.
type Start struct {
	Weight    float32      // value of every weight; 0: not set
	Positive  bool         // drawn evenly from 0 to 0.1
	Random    bool         // drawn evenly from -0.5 to 0.5
	Normal    bool         // drawn from the normal distribution
	Truncated bool         // like Normal, limited to two standard deviations from 0
	Seed      merand.State // seed of Random; vw draws normal weights by their position only
}

// Fill sets the first of each stride floats of w, and returns the final state of the generator.
// The values are vw's, where a weight's position is counted in floats, pitch of them a weight.
func (s Start) Fill(w []float32, stride, pitch int) merand.State {
	state := s.Seed
	switch {
	case s.Weight != 0:
		s.Set(w, stride)
	case s.Positive:
		for i := 0; i < len(w); i += stride {
			w[i] = 0.1 * state.Float()
		}
	case s.Random:
		for i := 0; i < len(w); i += stride {
			w[i] = state.Float() - 0.5
		}
	case s.Normal, s.Truncated:
		for i := 0; i < len(w); i += stride {
			w[i] = normal(merand.State(i / stride * pitch))
		}
		if !s.Normal {
			truncateNormal(w, stride)
		}
	}
	return state
}

// Set sets the first of each stride floats of w to Weight.
func (s Start) Set(w []float32, stride int) {
	for i := 0; i < len(w); i += stride {
		w[i] = s.Weight
	}
}

// normal draws by Marsaglia's polar method, from a separate generator for
// each weight.
func normal(s merand.State) float32 {
	for {
		x1 := 2*s.Float() - 1
		x2 := 2*s.Float() - 1
		if t := float32(x1*x1) + float32(x2*x2); t > 0 && t < 1 {
			return x1 * sqrt(-2*fmath.Log32(t)/t)
		}
	}
}

// truncateNormal folds values beyond two standard deviations back into that range.
func truncateNormal(w []float32, stride int) {
	var sum, squares float64
	n := float64(len(w) / stride)
	for i := 0; i < len(w); i += stride {
		sum += float64(w[i])
		squares += float64(float32(w[i] * w[i]))
	}
	mean := sum / n
	limit := 2 * math.Sqrt(squares/n-float64(mean*mean))
	for i := 0; i < len(w); i += stride {
		if math.Abs(float64(w[i])) > limit {
			w[i] = float32(math.Remainder(float64(w[i]), limit))
		}
	}
}
