// SPDX-License-Identifier: Apache-2.0

package metric

import (
	"math"

	"github.com/gvw-project/gvw/internal/fmath"
)

// Case is a labelled example and its prediction.
type Case struct {
	Label, Weight float32
	Score         float32 // orders the examples; positive means the positive class
	Prediction    float32 // compared with the label
	Probability   float32 // of the positive class; NaN: unknown, not counted in log-loss and calibration
}

// Choice is a labelled example and the class that was chosen for it.
type Choice struct {
	Weight      float32
	Score       float32 // of the chosen class
	Right       bool    // whether the chosen class is that of the example
	Probability float32 // of the example's own class; NaN: unknown, not counted in log-loss
}

// The vector: sums, then the bins of the calibration, then the histograms.
const (
	atWeight  = iota // Σ weight
	atLoss           // Σ weight · log-loss
	atRight          // Σ weight of right classes
	atSquares        // Σ weight · (prediction - label)²
	atStray          // Σ weight of scores that are NaN
	atBins           // calibration: Σ weight, Σ weight·probability, Σ weight of positives; for each bin
	atScores  = atBins + 3*bins
)

const (
	bins   = 10      // of the calibration
	octave = 1 << 10 // bins of a histogram between a score and twice as much
	half   = 32 * octave
	scores = 2 * half // bins of a histogram: scores below 0, and above
)

// Sums has the sums from which all measures of a set follow. The sums of two sets of examples
// add up, element by element, to those of both together.
type Sums struct {
	set    Set
	vector []float64
}

// NewSums returns the sums over no examples. With AUC or auPRC they take 1 MiB for the
// histograms of both classes.
func NewSums(set Set) *Sums {
	n := atScores
	if set.Has(AUC) || set.Has(AUPRC) {
		n += 2 * scores
	}
	return &Sums{set: set, vector: make([]float64, n)}
}

// Vector returns all sums. The caller may add those of other ranks to it.
func (s *Sums) Vector() []float64 { return s.vector }

// Set returns the measures.
func (s *Sums) Set() Set { return s.set }

// Reset sets all sums to 0.
func (s *Sums) Reset() { clear(s.vector) }

// Add counts an example with one score.
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
	// The conversion prevents a fused multiply-add, which would make the bits depend on the
	// processor.
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

// surprise returns the log-loss of a true event that was given the probability q.
func surprise(q float64) float64 {
	const least = 1.0 / (1 << 52)
	return -fmath.Log(min(max(q, least), 1-least))
}

// addProbability adds to the log-loss and to the calibration bin of q.
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

// binOf returns the bin of a score by its sign, exponent and the ten highest bits of its
// mantissa. Bins grow with the score, and so all bins have the same relative width.
func binOf(score float32) int {
	const least = 111 << 10 // 2^-16
	k := int(math.Float32bits(score)&0x7fffffff>>13) - least
	k = min(max(k, 0), half-1)
	if score < 0 {
		return half - 1 - k
	}
	return half + k
}

// binOfProbability returns the calibration bin of q. A bin includes its upper end.
func binOfProbability(q float64) int {
	for i := range bins - 1 {
		if q <= float64(i+1)/bins {
			return i
		}
	}
	return bins - 1
}
