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
	Above, UpTo float64 // range of its probabilities, without its lower end
	Weight      float64 // weight of its examples
	Predicted   float64 // their mean probability; NaN: no examples
	Positive    float64 // share of positive examples; NaN: no examples
}

// Values returns the measures of the set, in its order.
func (s *Sums) Values() []Value {
	values := make([]Value, len(s.set))
	for i, name := range s.set {
		values[i] = Value{name, s.Value(name)}
	}
	return values
}

// Value returns one measure. It is NaN if it is undefined for the examples.
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

// Weight returns the weight of all examples.
func (s *Sums) Weight() float64 { return s.vector[atWeight] }

// Curve returns the bins of the calibration, from the lowest probability up.
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

// histograms returns the weights of negative and of positive examples by score, in bins of
// increasing score.
func (s *Sums) histograms() (negative, positive []float64) {
	return s.vector[atScores:][:scores], s.vector[atScores+scores:][:scores]
}

// auc returns the share of pairs, one positive and one negative, in which the positive example
// has the higher score. A pair in one bin counts half.
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

// auprc returns the average precision. It goes from the highest score down; found and others
// are the positive and the negative weight so far.
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
