// SPDX-License-Identifier: Apache-2.0

package metric

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sigmoid returns a probability for a score.
func sigmoid(s float32) float32 { return float32(1 / (1 + math.Exp(-float64(s)))) }

// example draws an example of positive weight. Its score often repeats.
func example(t *rapid.T) Case {
	s := float32(rapid.IntRange(-40, 40).Draw(t, "score")) / 8
	return Case{
		Label:  rapid.SampledFrom([]float32{-1, 1}).Draw(t, "label"),
		Weight: float32(rapid.IntRange(1, 5).Draw(t, "weight")),
		Score:  s, Prediction: s, Probability: sigmoid(s),
	}
}

func sumsOf(set Set, cases []Case) *Sums {
	s := NewSums(set)
	for _, c := range cases {
		s.Add(c)
	}
	return s
}

// The reference computes the measures from their definitions, pair by pair.
func byDefinition(name string, cases []Case) float64 {
	var w, sum, positive, negative float64
	for _, a := range cases {
		aw := float64(a.Weight)
		w += aw
		if a.Label > 0 {
			positive += aw
		} else {
			negative += aw
		}
		switch name {
		case LogLoss:
			q := float64(a.Probability)
			if a.Label <= 0 {
				q = 1 - q
			}
			sum -= aw * math.Log(q)
		case Accuracy:
			if (a.Score > 0) == (a.Label > 0) {
				sum += aw
			}
		case RMSE:
			sum += aw * math.Pow(float64(a.Prediction-a.Label), 2)
		case AUC:
			for _, b := range cases {
				if a.Label > 0 && b.Label <= 0 {
					switch {
					case a.Score > b.Score:
						sum += aw * float64(b.Weight)
					case a.Score == b.Score:
						sum += aw * float64(b.Weight) / 2
					}
				}
			}
		case AUPRC:
			var above, found float64 // of scores at least a's
			for _, b := range cases {
				if b.Score >= a.Score {
					above += float64(b.Weight)
					if b.Label > 0 {
						found += float64(b.Weight)
					}
				}
			}
			if a.Label > 0 {
				sum += aw * found / above
			}
		}
	}
	switch name {
	case RMSE:
		return math.Sqrt(sum / w)
	case AUC:
		return sum / (positive * negative)
	case AUPRC:
		return sum / positive
	}
	return sum / w
}

func near(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-6
}

func TestMeasuresFollowTheirDefinitions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cases := rapid.SliceOfN(rapid.Custom(example), 1, 40).Draw(rt, "cases")
		s := sumsOf(Names, cases)
		for _, name := range []string{LogLoss, Accuracy, AUC, AUPRC, RMSE} {
			if got, want := s.Value(name), byDefinition(name, cases); !near(got, want) {
				rt.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	})
}

// The sums of several ranks add up to those of one process. A weight counts as repetitions.
func TestSumsOfPartsAndWeights(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cases := rapid.SliceOfN(rapid.Custom(example), 1, 40).Draw(rt, "cases")
		cut := rapid.IntRange(0, len(cases)).Draw(rt, "cut")
		whole, parts := sumsOf(Names, cases), sumsOf(Names, cases[:cut])
		for i, v := range sumsOf(Names, cases[cut:]).Vector() {
			parts.Vector()[i] += v
		}
		single := NewSums(Names)
		for _, c := range cases {
			n := int(c.Weight)
			c.Weight = 1
			for range n {
				single.Add(c)
			}
		}
		for _, v := range whole.Values() {
			if got := parts.Value(v.Name); !near(got, v.Value) {
				rt.Errorf("%s: %v in parts, %v as a whole", v.Name, got, v.Value)
			}
			if got := single.Value(v.Name); !near(got, v.Value) {
				rt.Errorf("%s: %v one by one, %v by weight", v.Name, got, v.Value)
			}
		}
	})
}

func TestBinsKeepTheOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := rapid.Float32().Draw(rt, "a"), rapid.Float32().Draw(rt, "b")
		if a < b && binOf(a) > binOf(b) {
			rt.Errorf("%v is in bin %d, %v in bin %d", a, binOf(a), b, binOf(b))
		}
		if a >= 1 && a < 60000 && b > a*1.002 && binOf(a) == binOf(b) {
			rt.Errorf("%v and %v share bin %d", a, b, binOf(a))
		}
	})
	for _, s := range []float32{0, 1e-30, 1, 3e38, float32(math.Inf(1))} {
		if n, p := binOf(-s), binOf(s); s > 0 && n != scores-1-p || p < half || p >= scores {
			t.Errorf("%v is in bin %d, its negative in %d", s, p, n)
		}
	}
}

func TestCalibration(t *testing.T) {
	s := NewSums(Names)
	for i := range 10 { // ten examples of probability 0.3, five of them positive
		y := float32(-1)
		if i < 5 {
			y = 1
		}
		s.Add(Case{Label: y, Weight: 2, Probability: 0.25})
	}
	if got := s.Value(Calibration); !near(got, 0.25) {
		t.Errorf("calibration error %v, want 0.25", got)
	}
	b := s.Curve()[2]
	if b.Above != 0.2 || b.UpTo != 0.3 || b.Weight != 20 || b.Predicted != 0.25 || b.Positive != 0.5 {
		t.Errorf("bin %+v", b)
	}
	if !math.IsNaN(s.Curve()[0].Positive) {
		t.Error("an empty bin has a share of positives")
	}
	for q, want := range map[float64]int{0: 0, 0.05: 0, 0.1: 0, 0.10001: 1, 0.95: 9, 1: 9} {
		if got := binOfProbability(q); got != want {
			t.Errorf("probability %v is in bin %d, want %d", q, got, want)
		}
	}
}

func TestUndefinedMeasures(t *testing.T) {
	empty := NewSums(Names)
	onlyPositive := sumsOf(Names, []Case{{Label: 1, Weight: 1, Score: 2, Probability: 0.9}})
	nan := float32(math.NaN())
	stray := sumsOf(Names, []Case{{Label: 1, Weight: 1, Score: 2}, {Label: -1, Weight: 1, Score: nan, Prediction: nan, Probability: nan}})
	for _, name := range Names {
		if !math.IsNaN(empty.Value(name)) || !math.IsNaN(stray.Value(name)) {
			t.Errorf("%s of nothing is %v, with a score that is no number %v", name, empty.Value(name), stray.Value(name))
		}
	}
	if !math.IsNaN(onlyPositive.Value(AUC)) || onlyPositive.Value(AUPRC) != 1 {
		t.Errorf("of positives only: AUC %v, auPRC %v", onlyPositive.Value(AUC), onlyPositive.Value(AUPRC))
	}
	// A probability of 0 for the true class has a large but finite loss.
	sure := sumsOf(Names, []Case{{Label: 1, Weight: 1, Score: -99, Probability: 0}})
	if l := sure.Value(LogLoss); !near(l, 52*math.Ln2) {
		t.Errorf("log-loss %v of a sure error", l)
	}
}

func TestParse(t *testing.T) {
	set, err := Parse("auc,logloss,auc")
	if err != nil || !slices.Equal(set, Set{LogLoss, AUC}) {
		t.Errorf("%v, %v", set, err)
	}
	for _, text := range []string{"", "auc,", "AUC", "auc logloss", "f1"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "logloss, accuracy") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if set := (Set{LogLoss, Accuracy, AUC}); !slices.Equal(set.Probabilities(), Set{LogLoss}) || !slices.Equal(set.Signs(), Set{Accuracy}) {
		t.Errorf("%v needs %v and %v", set, set.Probabilities(), set.Signs())
	}
}

func TestChoices(t *testing.T) {
	s := NewSums(Set{LogLoss, Accuracy})
	s.AddChoice(Choice{Weight: 3, Right: true, Probability: 0.5})
	s.AddChoice(Choice{Weight: 1, Probability: 0.25})
	if got, want := s.Value(LogLoss), (3*math.Ln2+2*math.Ln2)/4; !near(got, want) {
		t.Errorf("log-loss %v, want %v", got, want)
	}
	if got := s.Value(Accuracy); got != 0.75 {
		t.Errorf("accuracy %v, want 0.75", got)
	}
	s.AddChoice(Choice{Weight: 1, Probability: 0}) // for a label that has no class
	if got, want := s.Value(LogLoss), (5+52)*math.Ln2/5; !near(got, want) {
		t.Errorf("log-loss %v, want %v", got, want)
	}
	s.AddChoice(Choice{Weight: 1, Score: float32(math.NaN())})
	if got := s.Value(Accuracy); !math.IsNaN(got) {
		t.Errorf("accuracy with a score that is no number is %v", got)
	}
	if set := Set(Names).Single(); !slices.Equal(set, Set{AUC, AUPRC, RMSE, Calibration}) {
		t.Errorf("%v need one score", set)
	}
}

func TestAddAllocatesNothing(t *testing.T) {
	s := NewSums(Names)
	if n := testing.AllocsPerRun(100, func() { s.Add(Case{Label: 1, Weight: 1, Score: 0.3, Probability: 0.6}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
