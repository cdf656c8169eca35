// SPDX-License-Identifier: Apache-2.0

package metric

import (
	"math"

	"github.com/gvw-project/gvw/internal/fmath"
)

// Case is one labelled example and what was predicted for it.
type Case struct {
	Label, Weight float32
	Score         float32 // orders the examples; its sign is the class
	Prediction    float32 // what is compared with the label
	Probability   float32 // that the example is positive; NaN: not known, log-loss and calibration leave it out
}

// Choice is one labelled example and the class that was chosen for it.
type Choice struct {
	Weight      float32
	Score       float32 // of the chosen class
	Right       bool    // it is the example's own
	Probability float32 // of the example's own class; NaN: not known, log-loss leaves it out
}

// The vector: sums, then the bins of the calibration, then the histograms.
const (
	atWeight  = iota // Σ weight
	atLoss           // Σ weight · log-loss
	atRight          // Σ weight of right classes
	atSquares        // Σ weight · (prediction - label)²
	atStray          // Σ weight of scores that are no numbers
	atBins           // calibration: Σ weight, Σ weight·probability, Σ weight of positives; for each bin
	atScores  = atBins + 3*bins
)

const (
	bins   = 10      // of the calibration
	octave = 1 << 10 // bins of a histogram between a score and twice as much
	half   = 32 * octave
	scores = 2 * half // bins of a histogram: scores below 0, and above
)

// Sums are what all measures of a set are made from.
type Sums struct {
	set    Set
	vector []float64
}

// NewSums returns sums of nothing.
func NewSums(set Set) *Sums {
	n := atScores
	if set.Has(AUC) || set.Has(AUPRC) {
		n += 2 * scores
	}
	return &Sums{set: set, vector: make([]float64, n)}
}

// Vector is all sums, to be added to those of others in place.
func (s *Sums) Vector() []float64 { return s.vector }

// Set is what is measured.
func (s *Sums) Set() Set { return s.set }

// Reset forgets all examples.
func (s *Sums) Reset() { clear(s.vector) }

// Add counts an example.
func (s *Sums) Add(c Case) {
	v, w := s.vector, float64(c.Weight)
	v[atWeight] += w
	if math.IsNaN(float64(c.Score)) {
		v[atStray] += w
		return
	}
	positive := c.Label > 0
	if positive == (c.Score > 0) {
		v[atRight] += w
	}
	d := float64(c.Prediction) - float64(c.Label)
	v[atSquares] += float64(w * d * d)
	if q := float64(c.Probability); !math.IsNaN(q) {
		s.addProbability(q, w, positive)
	}
	if len(v) > atScores {
		at := atScores + binOf(c.Score)
		if positive {
			at += scores
		}
		v[at] += w
	}
}

// AddChoice counts an example of several classes.
func (s *Sums) AddChoice(c Choice) {
	v, w := s.vector, float64(c.Weight)
	v[atWeight] += w
	if math.IsNaN(float64(c.Score)) {
		v[atStray] += w
		return
	}
	if c.Right {
		v[atRight] += w
	}
	if q := float64(c.Probability); !math.IsNaN(q) {
		v[atLoss] += float64(w * surprise(q))
	}
}

// surprise is the log-loss of a truth that was given the probability q.
func surprise(q float64) float64 {
	const least = 1.0 / (1 << 52)
	return -fmath.Log(min(max(q, least), 1-least))
}

func (s *Sums) addProbability(q, w float64, positive bool) {
	v := s.vector
	b := v[atBins+3*binOfProbability(q):][:3]
	b[0] += w
	b[1] += float64(w * q)
	if positive {
		b[2] += w
	} else {
		q = 1 - q
	}
	v[atLoss] += float64(w * surprise(q))
}

// binOf is the bin of a score: sign, exponent and ten digits of the mantissa.
func binOf(score float32) int {
	const least = 111 << 10 // 2^-16
	k := int(math.Float32bits(score)&0x7fffffff>>13) - least
	k = min(max(k, 0), half-1)
	if score < 0 {
		return half - 1 - k
	}
	return half + k
}

// binOfProbability is the bin that q lies in; a bin holds its upper end.
func binOfProbability(q float64) int {
	for i := range bins - 1 {
		if q <= float64(i+1)/bins {
			return i
		}
	}
	return bins - 1
}
