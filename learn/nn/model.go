// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math"
	"math/rand/v2"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/fmath"
)

// Model is a network.
type Model struct {
	cfg     Config
	layers  []*layer
	pending int // examples since the last step

	mean mean

	input   []feature.Feature // of the current example, after Center, Scale, Quantiles and Text
	touched []uint32          // rows of the first layer with a gradient
	isRow   []bool            // of each row: whether it is in touched; nil before the first Update
}

// New returns a network with random weights, or one that continues from Config.Weights.
func New(c Config) (*Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	m := &Model{cfg: c}
	m.cfg.Weights = make([][]float32, c.Layers())
	for i := range m.cfg.Weights {
		in, out := c.shape(i)
		l := &layer{in: in, out: out, values: make([]float32, out), slope: make([]float32, out)}
		if i < len(c.Hidden) && !(c.Embedding && i == 0) {
			l.activation = c.Activation
		}
		if c.Weights != nil {
			l.w = c.Weights[i]
		} else {
			l.w = make([]float32, (in+1)*out)
		}
		m.cfg.Weights[i] = l.w
		if !c.Continue {
			length := math.Sqrt(float64(in))
			if i == 0 {
				length = c.Length
			}
			l.fill(rand.New(rand.NewPCG(c.Seed, uint64(i)+1)), length)
		}
		m.layers = append(m.layers, l)
	}
	return m, nil
}

// Config returns the configuration with its defaults and weights. With Continue, New continues from it.
func (m *Model) Config() Config { return m.cfg }

// Scores returns the outputs for an input. The slice is valid until the next call.
func (m *Model) Scores(x []feature.Feature) []float32 {
	m.setInput(x)
	m.layers[0].forwardSparse(m.input)
	for i := 1; i < len(m.layers); i++ {
		m.layers[i].forward(m.layers[i-1].values)
	}
	return m.layers[len(m.layers)-1].values
}

// Choose returns the class with the highest score, or the class 0 or 1 of a single score.
func Choose(scores []float32) int {
	if len(scores) == 1 {
		if scores[0] > 0 {
			return 1
		}
		return 0
	}
	best := 0
	for i, s := range scores {
		if s > scores[best] {
			best = i
		}
	}
	return best
}

// Probability returns the probability of a class by its scores, under the losses Logistic and Softmax.
func Probability(scores []float32, class int) float64 {
	if len(scores) == 1 {
		s := float64(scores[0])
		if class == 0 {
			s = -s
		}
		return 1 / (1 + fmath.Exp(-s))
	}
	sum := 0.0
	for _, s := range scores {
		sum += fmath.Exp(float64(s) - float64(scores[class]))
	}
	return 1 / sum
}
