// SPDX-License-Identifier: Apache-2.0

package oaa

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
)

// fake is a base that records its calls.
type fake struct {
	r      loss.Range
	scores []float32
	calls  []string
}

func (f *fake) SetRange(r loss.Range) { f.r = r }

func (f *fake) Scores(scores []float32, fs []feature.Feature, initial float32) {
	f.calls = append(f.calls, fmt.Sprintf("scores of %d, initial %v", fs[0].Index, initial))
	copy(scores, f.scores)
}

func (f *fake) Update(class int, fs []feature.Feature, ex *feature.Example, score float32) {
	f.calls = append(f.calls, fmt.Sprintf("update %d at %d: label %v, weight %v, score %v, range %v", class, fs[0].Index, ex.Label, ex.Weight, score, f.r))
}

func (f *fake) Learn(class int, fs []feature.Feature, ex *feature.Example) {
	f.calls = append(f.calls, fmt.Sprintf("learn %d at %d: label %v, weight %v, range %v", class, fs[0].Index, ex.Label, ex.Weight, f.r))
}

func (f *fake) End(ex *feature.Example) {
	f.calls = append(f.calls, fmt.Sprintf("end of label %v", ex.Label))
}

func check(t *testing.T, f *fake, want ...string) {
	t.Helper()
	if !slices.Equal(f.calls, want) {
		t.Errorf("got %q,\nwant %q", f.calls, want)
	}
}

// All classes predict before any learns, within the range before the example; then the
// range follows the labels, class by class.
func TestClassesLearnOneAfterTheOther(t *testing.T) {
	f := &fake{scores: []float32{0.5, 2, -3}}
	l := New(f, 3, 4, loss.Range{}, false)
	fs := []feature.Feature{{Index: 7, Value: 1}} // 7·4 modulo 2^4
	scores := l.Learn(fs, &feature.Example{Label: 9, Weight: 2, Initial: 0.25}, 2)
	if !slices.Equal(scores, []float32{0, 0, 0}) {
		t.Errorf("scores %v, want them within the range of no label", scores)
	}
	check(t, f, "scores of 12, initial 0.25",
		"update 0 at 12: label -1, weight 2, score 0, range {-1 0}",
		"update 1 at 12: label -1, weight 2, score 0, range {-1 0}",
		"update 2 at 12: label 1, weight 2, score 0, range {-1 1}",
		"end of label 9")
	if scores := l.Predict(fs, 0); !slices.Equal(scores, []float32{0.5, 1, -1}) {
		t.Errorf("scores %v, want them within the range of both labels", scores)
	}
}

// A fixed range stays, and an example may belong to no class.
func TestRangeMayBeFixed(t *testing.T) {
	f := &fake{scores: []float32{7, -7}}
	l := New(f, 2, 4, loss.Range{Min: -5, Max: 5}, true)
	l.Learn([]feature.Feature{{Index: 1}}, &feature.Example{Weight: 1}, 2)
	check(t, f, "scores of 2, initial 0",
		"update 0 at 2: label -1, weight 1, score 5, range {-5 5}",
		"update 1 at 2: label -1, weight 1, score -5, range {-5 5}",
		"end of label 0")
}

// With a sample, the right class learns first, then others in turn with more weight.
func TestSampleLearnsInTurn(t *testing.T) {
	f := &fake{scores: make([]float32, 4)}
	l := New(f, 4, 8, loss.Range{Min: -1, Max: 1}, true)
	if _, err := l.Subsample(2, 0); err != nil {
		t.Fatal(err)
	}
	l.sample.order = []int{3, 1, 0, 2}
	fs := []feature.Feature{{Index: 0}}
	l.LearnSample(fs, &feature.Example{Weight: 1}, 1)
	l.LearnSample(fs, &feature.Example{Weight: 1}, 1)
	check(t, f, "scores of 0, initial 0",
		"learn 1 at 0: label 1, weight 1, range {-1 1}",
		"learn 3 at 0: label -1, weight 2, range {-1 1}",
		"learn 0 at 0: label -1, weight 2, range {-1 1}",
		"scores of 0, initial 0",
		"learn 1 at 0: label 1, weight 1, range {-1 1}",
		"learn 2 at 0: label -1, weight 2, range {-1 1}",
		"learn 3 at 0: label -1, weight 2, range {-1 1}")
	if l.Turn() != 1 {
		t.Errorf("turn %d, want 1", l.Turn())
	}
	for _, turn := range []int{-1, 4} {
		if err := l.SetTurn(turn); err == nil {
			t.Errorf("turn %d is accepted", turn)
		}
	}
}

// Wild is the first class whose score is no finite number.
func TestWildIsTheFirst(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		scores []float32
		want   int
	}{
		{[]float32{1, 2}, -1},
		{[]float32{1, inf}, 1},
		{[]float32{nan, inf}, 0},
	} {
		l := New(&fake{scores: c.scores}, 2, 4, loss.Range{Min: -1, Max: 1}, true)
		l.Predict([]feature.Feature{{Index: 0}}, 0)
		if got := l.Wild(); got != c.want {
			t.Errorf("%v: class %d, want %d", c.scores, got, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		k    int
		bits uint
		ok   bool
	}{{1, 1, true}, {8, 3, true}, {9, 3, false}, {0, 3, false}, {1 << 20, 32, true}} {
		if err := Check(c.k, c.bits); (err == nil) != c.ok {
			t.Errorf("%d classes in 2^%d weights: %v", c.k, c.bits, err)
		}
	}
}
