// SPDX-License-Identifier: Apache-2.0

package metric

import "math"

// Value is a measure's name and value.
type Value struct {
	Name  string
	Value float64
}

// Bin is a bin of the calibration curve.
type Bin struct {
	Above, UpTo float64 // its probabilities
	Weight      float64 // of its examples
	Predicted   float64 // their mean probability; NaN: there are none
	Positive    float64 // the share of positive ones; NaN: there are none
}

// Values are the measures of the set.
func (s *Sums) Values() []Value {
	values := make([]Value, len(s.set))
	for i, name := range s.set {
		values[i] = Value{name, s.Value(name)}
	}
	return values
}

// Value is one measure; NaN if it is not defined on the examples.
func (s *Sums) Value(name string) float64 {
	v := s.vector
	w := v[atWeight]
	if w <= 0 || v[atStray] > 0 {
		return math.NaN()
	}
	switch name {
	case LogLoss:
		return v[atLoss] / w
	case Accuracy:
		return v[atRight] / w
	case RMSE:
		return math.Sqrt(v[atSquares] / w)
	case Calibration:
		var sum float64
		for i := range bins {
			b := v[atBins+3*i:][:3]
			sum += math.Abs(b[1] - b[2])
		}
		return sum / w
	case AUC:
		return s.auc()
	case AUPRC:
		return s.auprc()
	}
	panic("BUG: metric: no measure is called " + name)
}

// Weight is the weight of all examples.
func (s *Sums) Weight() float64 { return s.vector[atWeight] }

// Curve is the calibration, bin by bin.
func (s *Sums) Curve() []Bin {
	curve := make([]Bin, bins)
	for i := range curve {
		b := s.vector[atBins+3*i:][:3]
		curve[i] = Bin{
			Above: float64(i) / bins, UpTo: float64(i+1) / bins,
			Weight: b[0], Predicted: b[1] / b[0], Positive: b[2] / b[0],
		}
	}
	return curve
}

// histograms are the weights of negative and of positive examples by score.
func (s *Sums) histograms() (negative, positive []float64) {
	return s.vector[atScores:][:scores], s.vector[atScores+scores:][:scores]
}

func (s *Sums) auc() float64 {
	negative, positive := s.histograms()
	var below, all, sum float64
	for i, n := range negative {
		p := positive[i]
		sum += float64(p * (below + float64(n/2)))
		below += n
		all += p
	}
	if below == 0 || all == 0 {
		return math.NaN()
	}
	return sum / (below * all)
}

func (s *Sums) auprc() float64 {
	negative, positive := s.histograms()
	var found, others, sum float64
	for i := scores - 1; i >= 0; i-- {
		p := positive[i]
		found += p
		others += negative[i]
		if p > 0 {
			sum += float64(p * (found / (found + others)))
		}
	}
	if found == 0 {
		return math.NaN()
	}
	return sum / found
}
