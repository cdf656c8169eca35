// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/tally"
)

// messages returns a logger that writes only the messages of records.
func messages(out *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}}))
}

// The first label 0 or K decides from which number labels count. A label without a class is
// reported once. On a cluster the data of one rank decides nothing.
func TestClassLabelsTranscript(t *testing.T) {
	for name, c := range map[string]struct {
		labels ClassLabels
		data   []float32
		first  int
		want   string
	}{
		"from 1": {ClassLabels{K: 3, First: 1}, []float32{1, 3, 0}, 1, "msg=\"labels found to count from 1 (learn.Config.OAA.Indexing=1)\" label=3\n" +
			"msg=\"label without a class found, further ones are not logged\" label=0 first=1 last=3 effect=\"learned as an example of no class\" example=10\n"},
		"from 0":  {ClassLabels{K: 3, First: 1}, []float32{1, 0, 3}, 0, "msg=\"labels found to count from 0 (learn.Config.OAA.Indexing=0)\" label=0\n" + "msg=\"label without a class found, further ones are not logged\" label=3 first=0 last=2 effect=\"learned as an example of no class\" example=10\n"},
		"given":   {ClassLabels{K: 3, First: 0, Decided: true}, []float32{0, 1, 2}, 0, ""},
		"once":    {ClassLabels{K: 2, First: 1, Decided: true}, []float32{7, 8, -1}, 1, "msg=\"label without a class found, further ones are not logged\" label=7 first=1 last=2 effect=\"learned as an example of no class\" example=10\n"},
		"names":   {ClassLabels{K: 2, First: 1, Decided: true, Names: []string{"ham", "spam"}}, []float32{7}, 1, ""},
		"cluster": {ClassLabels{K: 3, First: 1, Cluster: true}, []float32{3, 1}, 1, ""},
	} {
		var log bytes.Buffer
		l := c.labels
		l.Log = messages(&log)
		for _, label := range c.data {
			if err := l.decide(label, 9); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if diff := cmp.Diff(c.want, log.String()); diff != "" || l.First != c.first {
			t.Errorf("%s: first label %d, want %d; log (-want +got):\n%s", name, l.First, c.first, diff)
		}
	}
	l := ClassLabels{Data: "d", K: 3, First: 1, Cluster: true}
	if err, ok := errors.AsType[*examples.DataError](l.decide(0, 0)); !ok || !strings.HasPrefix(err.Error(), "d: got label 0, want 1 to 3: ") {
		t.Errorf("label 0 on a cluster: got %v", err)
	}
}

// The text of each class is the label that its examples have, so predictions can be compared
// with the data.
func TestTextOfAClassIsItsLabel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ClassLabels{K: rapid.IntRange(1, 50).Draw(t, "classes"), First: rapid.IntRange(0, 1).Draw(t, "first")}
		class := rapid.IntRange(0, l.K-1).Draw(t, "class")
		label := float32(class + l.First)
		if got := l.class(label); got != class || l.text(class) != l.label(label) {
			t.Fatalf("label %v: class %d, want %d; texts %s and %s", label, got, class, l.text(class), l.label(label))
		}
	})
	l := ClassLabels{K: 2, First: 1, Names: []string{"ham", "spam"}}
	got := []string{l.text(0), l.label(2), l.label(3), l.label(feature.NoLabel)}
	if diff := cmp.Diff([]string{"ham", "spam", "unknown", "unknown"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if l.class(feature.NoLabel) >= 0 {
		t.Error("an example without label has a class")
	}
}

// Probabilities are positive, sum to 1, and have the order of the scores.
func TestProbabilities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.Float32Range(-30, 30), 1, 8).Draw(t, "scores")
		p := probabilities([]float32{9}[:0], scores)
		sum := 0.0
		for i, v := range p {
			sum += float64(v)
			for j := range p {
				if !(v >= 0 && v <= 1) || scores[i] > scores[j] && v < p[j] {
					t.Fatalf("scores %v have probabilities %v", scores, p)
				}
			}
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Fatalf("the probabilities %v sum to %v", p, sum)
		}
	})
}

// The chosen class has the highest score, and is the first one with it.
func TestHighest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.SampledFrom([]float32{-1, 0, 0.5, 2}), 1, 8).Draw(t, "scores")
		best := highest(scores)
		if first := slices.Index(scores, slices.Max(scores)); best != first {
			t.Fatalf("class %d of %v, want %d", best, scores, first)
		}
	})
}

// lines is a file in memory.
type lines struct{ bytes.Buffer }

func (*lines) Commit() error { return nil }
func (*lines) Abort() error  { return nil }

// The files of -p and -r have vw's forms: the class or all scores, with numbers in -r also for
// named classes.
func TestClassFilesTranscript(t *testing.T) {
	scores := []float32{0.25, -1, 1234567}
	for name, c := range map[string]struct {
		config     ChooserConfig
		names      []string
		shown, raw string
	}{
		"class":         {ChooserConfig{}, nil, "3 tag\n", " 1:0.25 2:-1 3:1.23457e+06 tag\n"},
		"names":         {ChooserConfig{}, []string{"a", "b", "c"}, "c tag\n", " 1:0.25 2:-1 3:1.23457e+06 tag\n"},
		"scores":        {ChooserConfig{Scores: true}, nil, "1:0.25 2:-1 3:1.23457e+06 tag\n", ""},
		"named scores":  {ChooserConfig{Scores: true}, []string{"a", "b", "c"}, "a:0.25 b:-1 c:1.23457e+06 tag\n", ""},
		"probabilities": {ChooserConfig{Probabilities: true}, nil, "1:0.25 2:-1 3:1.23457e+06 tag\n", ""},
	} {
		var shown, raw lines
		files := &output.PredictionFiles{}
		var err error
		if files.Predictions, err = output.NewPredictions(func(string) (output.File, error) { return &shown, nil }, "p"); err != nil {
			t.Fatal(err)
		}
		if files.Raw, err = output.NewPredictions(func(string) (output.File, error) { return &raw, nil }, "r"); err != nil {
			t.Fatal(err)
		}
		m := &Chooser{tally: &tally.Tally{Files: files}, ChooserConfig: c.config}
		labels := &ClassLabels{K: 3, First: 1, Names: c.names}
		err = m.write([]byte("tag"), scores, 2, labels)
		files.Mute = true
		err = errors.Join(err, m.write([]byte("muted"), scores, 2, labels), files.Flush())
		if err != nil || shown.String() != c.shown || raw.String() != c.raw {
			t.Errorf("%s: -p %q, want %q; -r %q, want %q; error %v", name, shown.String(), c.shown, raw.String(), c.raw, err)
		}
	}
}

// weights is a table with one float per weight.
type weights []float32

func (w weights) Weights() []float32  { return w }
func (w weights) Stride() int         { return 1 }
func (w weights) At(i uint32) float32 { return w[i] }

// The error of a training that has diverged names the example and its largest weight. An example
// whose own values are not finite is no fault of the training.
func TestDivergedNamesTheWeight(t *testing.T) {
	inf := float32(math.Inf(1))
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		w        weights
		values   []float32
		initial  float32
		shuffled bool
		want     string // "": no error
	}{
		"largest":         {weights{1, -7, 3}, []float32{1, 1, 1}, 0, false, "pass 2, example 5 (tag t): the score is NaN; its largest weight is number 1, -7: the training diverged"},
		"infinite":        {weights{1, 9, -inf}, []float32{1, 1, 1}, 0, false, "number 2, -Inf:"},
		"no number":       {weights{nan, 9, 1}, []float32{1, 1, 1}, 0, false, "number 0, NaN:"},
		"shuffled":        {weights{1, 2, 3}, []float32{1, 1, 1}, 0, true, "pass 2, an example (tag t): "},
		"no features":     {weights{}, nil, 0, false, "the score is NaN: the training diverged"},
		"its value":       {weights{1, 2, 3}, []float32{1, inf, 1}, 0, false, ""},
		"its NaN":         {weights{1, 2, nan}, []float32{1, nan, 1}, 0, false, ""},
		"its start value": {weights{1, 2, 3}, []float32{1, 1, 1}, inf, false, ""},
	} {
		b := &feature.Batch{Tags: []byte("t")}
		for i, v := range c.values {
			b.Features = append(b.Features, feature.Feature{Index: uint32(i), Value: v})
		}
		ex := &feature.Example{FeatHi: uint32(len(c.values)), TagHi: 1, Initial: c.initial}
		err := diverged(&examples.Reader{Name: "data", Nth: 5, Shuffled: c.shuffled}, 2, b, ex, "the score is NaN", c.w, func(i uint32) uint32 { return i }, 1)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "data: ") || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	// A feature of a composed learner has several weights.
	b := &feature.Batch{Features: []feature.Feature{{Index: 2, Value: 1}, {Index: 1, Value: 1}}}
	err := diverged(&examples.Reader{}, 1, b, &feature.Example{FeatHi: 2}, "it", weights{9, 9, 1, -4, 2, 3}, func(i uint32) uint32 { return 2 * i }, 2)
	if err == nil || !strings.Contains(err.Error(), "number 3, -4:") {
		t.Errorf("several weights: got %v, want number 3", err)
	}
}
