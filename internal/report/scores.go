// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gvw-project/gvw/internal/chart"
)

// Case is a prediction for an example with a label.
type Case struct {
	Score    float64
	Weight   float64 // importance weight
	Positive bool
}

// Scores are the predictions of a model for examples of two classes. The methods weight examples by their importance.
type Scores struct {
	cases              []Case // by descending score
	positive, negative float64
	logits             bool // scores are not probabilities
}

// NewScores returns the scores. It returns an error if there are not two classes, or a score or weight is not a number.
func NewScores(cases []Case) (*Scores, error) {
	s := &Scores{cases: slices.Clone(cases)}
	for i, c := range s.cases {
		switch {
		case math.IsNaN(c.Score) || math.IsInf(c.Score, 0):
			return nil, fmt.Errorf("got prediction %v for example %d, want a number", c.Score, i+1)
		case !(c.Weight >= 0) || math.IsInf(c.Weight, 0):
			return nil, fmt.Errorf("got weight %v of example %d, want a number from 0 on", c.Weight, i+1)
		case c.Positive:
			s.positive += c.Weight
		default:
			s.negative += c.Weight
		}
		s.logits = s.logits || c.Score < 0 || c.Score > 1
	}
	if s.positive == 0 || s.negative == 0 {
		return nil, fmt.Errorf("got examples of weight %g with a label above 0 and %g with others, want both", s.positive, s.negative)
	}
	slices.SortStableFunc(s.cases, func(a, b Case) int { return cmp.Compare(b.Score, a.Score) })
	return s, nil
}

// maxPoints is the number of points of a curve in a picture.
const maxPoints = 400

// Curves are the points of a receiver operating characteristic and of precision by recall, with the areas under them.
type Curves struct {
	FalseShare, TrueShare []float64 // of negative and of positive examples whose score is above a threshold
	Recall, Precision     []float64
	AUC, AveragePrecision float64
}

// Curves returns the curves. Examples with equal scores are one step.
func (s *Scores) Curves() (c Curves) {
	c.FalseShare, c.TrueShare = []float64{0}, []float64{0}
	var tp, fp float64
	for i := 0; i < len(s.cases); {
		t0, f0, score := tp, fp, s.cases[i].Score
		for ; i < len(s.cases) && s.cases[i].Score == score; i++ {
			if s.cases[i].Positive {
				tp += s.cases[i].Weight
			} else {
				fp += s.cases[i].Weight
			}
		}
		c.AUC += (fp - f0) / s.negative * (tp + t0) / 2 / s.positive
		if tp+fp > 0 {
			c.AveragePrecision += (tp - t0) / s.positive * tp / (tp + fp)
			c.Recall, c.Precision = append(c.Recall, tp/s.positive), append(c.Precision, tp/(tp+fp))
		}
		c.FalseShare, c.TrueShare = append(c.FalseShare, fp/s.negative), append(c.TrueShare, tp/s.positive)
	}
	c.FalseShare, c.TrueShare = thin(c.FalseShare, c.TrueShare)
	c.Recall, c.Precision = thin(c.Recall, c.Precision)
	return c
}

// thin returns at most maxPoints of the points, with the first and the last one.
func thin(x, y []float64) (xs, ys []float64) {
	if len(x) <= maxPoints {
		return x, y
	}
	for i := range maxPoints {
		j := i * (len(x) - 1) / (maxPoints - 1)
		xs, ys = append(xs, x[j]), append(ys, y[j])
	}
	return xs, ys
}

// probability returns the probability that a score stands for.
func (s *Scores) probability(score float64) float64 {
	if s.logits {
		return 1 / (1 + math.Exp(-score))
	}
	return score
}

// calibrationBins is the number of bins of Calibration.
const calibrationBins = 10

// Calibration returns the mean prediction and the share of positive examples in bins of equal width. Empty bins are left out.
func (s *Scores) Calibration() (predicted, share []float64) {
	var sum, positive, weight [calibrationBins]float64
	for _, c := range s.cases {
		p := s.probability(c.Score)
		b := min(int(p*calibrationBins), calibrationBins-1)
		sum[b] += p * c.Weight
		weight[b] += c.Weight
		if c.Positive {
			positive[b] += c.Weight
		}
	}
	for b, w := range weight {
		if w > 0 {
			predicted, share = append(predicted, sum[b]/w), append(share, positive[b]/w)
		}
	}
	return predicted, share
}

// histogramBins is the number of bins of Histogram.
const histogramBins = 30

// Histogram returns the middle of bins of equal width, and the weights of the examples of both classes in them.
func (s *Scores) Histogram() (middle, positive, negative []float64) {
	hi, lo := s.cases[0].Score, s.cases[len(s.cases)-1].Score
	width := (hi - lo) / histogramBins
	if !(width > 0) || math.IsInf(width, 0) {
		width = 1
	}
	positive, negative = make([]float64, histogramBins), make([]float64, histogramBins)
	for i := range histogramBins {
		middle = append(middle, lo+(float64(i)+0.5)*width)
	}
	for _, c := range s.cases {
		b := min(max(int((c.Score-lo)/width), 0), histogramBins-1)
		if c.Positive {
			positive[b] += c.Weight
		} else {
			negative[b] += c.Weight
		}
	}
	return middle, positive, negative
}

// scoreSection adds the predictions.
func (v *view) scoreSection() {
	roc := &chart.Lines{X: "share of negative examples above the threshold", Y: "share of positive examples", Diagonal: true}
	pr := &chart.Lines{X: "recall", Y: "precision", Zero: true}
	calibration := &chart.Lines{X: "mean prediction", Y: "share of positive examples", Diagonal: true}
	var rows []row
	logits := false
	for _, r := range v.runs {
		s := r.Scores
		if s == nil {
			continue
		}
		c := s.Curves()
		name := v.label(r, "")
		if name == "" {
			name = "model"
		}
		roc.Series = append(roc.Series, chart.Series{Name: name, X: c.FalseShare, Y: c.TrueShare})
		pr.Series = append(pr.Series, chart.Series{Name: name, X: c.Recall, Y: c.Precision})
		x, y := s.Calibration()
		calibration.Series = append(calibration.Series, chart.Series{Name: name, X: x, Y: y})
		logits = logits || s.logits
		rows = append(rows, row{cells: []string{name, fmt.Sprint(len(s.cases)), chart.Number(s.positive), chart.Number(s.negative), exact(c.AUC), exact(c.AveragePrecision)}})
	}
	if len(rows) == 0 {
		return
	}
	v.section("Predictions")
	v.table("Predictions", []string{"", "#examples", "#weight of positive ones", "#of negative ones", "#area under ROC", "#average precision"}, rows)
	v.grid(true)
	v.lines("Receiver operating characteristic", "The diagonal is chance.", roc)
	v.lines("Precision by recall", "", pr)
	caption := "On the diagonal, predictions are as often right as they say."
	if logits {
		caption += " Predictions outside of 0 to 1 are margins: the logistic function has made probabilities of them."
	}
	v.lines("Calibration", caption, calibration)
	for _, r := range v.runs {
		if r.Scores == nil {
			continue
		}
		x, positive, negative := r.Scores.Histogram()
		v.lines(v.label(r, "histogram of predictions"), "", &chart.Lines{
			X: "prediction", Y: "weight of examples", Zero: true,
			Series: []chart.Series{{Name: "positive", X: x, Y: positive}, {Name: "negative", X: x, Y: negative}},
		})
	}
	v.grid(false)
}
