// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/option"
)

// goldenRun is a training run of the real vw (9.11.2 with an exact 1/sqrt)
// whose predictions and weights are kept.
type goldenRun struct {
	name   string
	data   string
	loss   string
	flags  Flags
	text   feature.Config
	passes int
}

const (
	regression     = "reg500"
	classification = "s1000"
)

var goldenRuns = []goldenRun{
	{name: "default"},
	{name: "sgd", flags: Flags{SGD: true, LearningRate: option.Some[float32](0.1)}},
	{name: "adaptive", flags: Flags{Adaptive: true, LearningRate: option.Some[float32](0.5)}},
	{name: "normalized", flags: Flags{Normalized: true, LearningRate: option.Some[float32](0.5)}},
	{name: "invariant", flags: Flags{Invariant: true, LearningRate: option.Some[float32](0.1)}},
	{name: "ad_inv", flags: Flags{Adaptive: true, Invariant: true, LearningRate: option.Some[float32](0.5)}},
	{name: "no_inv", flags: Flags{Adaptive: true, Normalized: true, LearningRate: option.Some[float32](0.5)}},
	{name: "power_t0", flags: Flags{SGD: true, LearningRate: option.Some[float32](0.01), PowerT: option.Some[float32](0)}},
	{name: "power_t45", flags: Flags{PowerT: option.Some[float32](0.45)}},
	{name: "sgd_t10", flags: Flags{SGD: true, LearningRate: option.Some[float32](0.5), InitialT: option.Some[float32](10)}},
	{name: "init_t5", flags: Flags{InitialT: option.Some[float32](5)}},
	{name: "l1", flags: Flags{L1: 0.001}},
	{name: "l2", flags: Flags{L2: 0.001}},
	{name: "l1l2", flags: Flags{L1: 0.0005, L2: 0.0005}},
	{name: "b8", flags: Flags{Bits: 8}},
	{name: "nocon", text: feature.Config{NoConstant: true}},
	{name: "passes3_nho", passes: 3},
	{name: "decay", passes: 3, flags: Flags{DecayLearningRate: 0.8}},
	{name: "logistic", data: classification, loss: "logistic"},
}

func (g goldenRun) learner(t testing.TB) *Learner {
	t.Helper()
	l, err := loss.New(or(g.loss, "squared"))
	if err != nil {
		t.Fatal(err)
	}
	lr, err := New(g.flags.Config(), l)
	if err != nil {
		t.Fatal(err)
	}
	return lr
}

func (g goldenRun) examples(t testing.TB) *feature.Batch {
	t.Helper()
	cfg := g.text
	cfg.Bits = g.flags.Config().Bits
	return parse(t, cfg, golden(t, or(g.data, regression)+".vw"))
}

// TestGoldenRuns compares every rule with the real vw: the prediction before each update, the
// weights at the end, and the predictions of the finished model.
func TestGoldenRuns(t *testing.T) {
	for _, g := range goldenRuns {
		t.Run(g.name, func(t *testing.T) {
			lr, b := g.learner(t), g.examples(t)
			var train []float32
			for range max(g.passes, 1) {
				for i := range b.Examples {
					ex := &b.Examples[i]
					_, p, _ := lr.Learn(b.FeaturesOf(ex), ex)
					train = append(train, p)
				}
				lr.EndPass()
			}
			lr.Materialize()
			compare(t, "prediction while learning", train, predictions(t, g.name+".train.pred"))
			compare(t, "weight", column(lr, weight), goldenWeights(t, g))

			var test []float32
			for i := range b.Examples {
				ex := &b.Examples[i]
				_, p := lr.Predict(b.FeaturesOf(ex), ex.Initial)
				test = append(test, p)
			}
			compare(t, "prediction of the model", test, predictions(t, g.name+".test.pred"))
		})
	}
}

// compare compares two lists within 1e-4, absolute or relative, whichever is larger.
func compare(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d times %s, want %d", len(got), what, len(want))
	}
	worst := 0.0
	for i := range got {
		d := math.Abs(float64(got[i]-want[i])) / max(1, math.Abs(float64(want[i])))
		if !(d <= 1e-4) {
			t.Fatalf("%s %d = %v, want %v", what, i, got[i], want[i])
		}
		worst = max(worst, d)
	}
	t.Logf("%s: %d values, largest difference %.1e", what, len(got), worst)
}

// column returns one float of every weight.
func column(l *Learner, slot int) []float32 {
	w := l.Weights()
	out := make([]float32, 0, len(w)/l.Stride())
	for i := slot; i < len(w); i += l.Stride() {
		out = append(out, w[i])
	}
	return out
}

func parse(t testing.TB, cfg feature.Config, text []byte) *feature.Batch {
	t.Helper()
	p, err := feature.NewParser(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b, n := new(feature.Batch), int64(0)
	for line := range bytes.Lines(text) {
		n++
		if err := p.AppendLine(b, bytes.TrimSuffix(line, []byte("\n")), n); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.Warnings) > 0 {
		t.Fatalf("%d warnings, the first: %v", len(b.Warnings), b.Warnings[0])
	}
	return b
}

// golden reads a recorded file from this package, or from the recordings of the end-to-end
// tests.
func golden(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".gz"))
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(filepath.Join("..", "..", "tests", "testdata", "golden", name+".gz"))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", f.Name(), err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatalf("%s: %v", f.Name(), err)
	}
	return text
}

func predictions(t *testing.T, name string) []float32 {
	var out []float32
	for line := range strings.Lines(string(golden(t, name))) {
		out = append(out, number(t, strings.Fields(line)[0]))
	}
	return out
}

// goldenWeights reads the weights of a readable model: "index:w" after the line
// ":0".
func goldenWeights(t *testing.T, g goldenRun) []float32 {
	out := make([]float32, 1<<g.flags.Config().Bits)
	sc := bufio.NewScanner(bytes.NewReader(golden(t, g.name+".rm")))
	body := false
	for sc.Scan() {
		index, w, _ := strings.Cut(sc.Text(), ":")
		if !body {
			body = index == "" && w == "0"
			continue
		}
		i, err := strconv.Atoi(index)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = number(t, w)
	}
	return out
}

func number(t *testing.T, s string) float32 {
	v, err := strconv.ParseFloat(s, 32)
	if err != nil {
		t.Fatal(err)
	}
	return float32(v)
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
