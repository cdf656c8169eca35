// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/learn/internal/batchstage"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/optimtest"
	"github.com/gvw-project/gvw/option"
)

// pointsText writes points as vw text whose features hash to their numbers.
func pointsText(points []optimtest.Point) string {
	var b strings.Builder
	for _, p := range points {
		fmt.Fprintf(&b, "%v %v |", p.Label, p.Weight)
		for i, j := range p.Index {
			fmt.Fprintf(&b, " %d:%s", j, strconv.FormatFloat(float64(p.Value[i]), 'f', -1, 32))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// trainedPrior runs c to its end and returns the regulariser of each weight
// that it leaves, whose centres are the weights.
func trainedPrior(t *testing.T, c Config) *model.Regularizer {
	t.Helper()
	var out files
	c.Output.Create, c.Reg.Output = out.create, "r"
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	r, err := model.ReadRegularizer(bytes.NewReader(out.m["r"]), model.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// batchMethods are the solvers as options choose them.
var batchMethods = map[string]func(*Config){
	"L-BFGS":                func(c *Config) { c.Batch.BFGS = true },
	"L-BFGS with curvature": func(c *Config) { c.Batch.BFGS, c.Batch.HessianOn = true, true },
	"CG":                    func(c *Config) { c.Batch.ConjugateGradient = true },
	"memory 0":              func(c *Config) { c.Batch.BFGS, c.Batch.Mem.Set = true, true },
	"Newton":                func(c *Config) { c.Batch.BFGS, c.Batch.Solver = true, "newton" },
}

// TestBatchFindsTheOptimum trains from text and compares the weights with those of Newton's
// method. So it checks the sums over examples and the losses in them against the function that
// is minimised.
func TestBatchFindsTheOptimum(t *testing.T) {
	const n = 12
	for _, tc := range sampled.Short(t, []struct {
		loss  string
		exact optimtest.LossFunc
		label func(float64, *rand.Rand) float32
		// scale is what exact has against the function that is minimised: that
		// of the poisson loss is half of vw's deviance.
		scale float64
	}{
		{"logistic", optimtest.Logistic, optimtest.Sign, 1},
		{"squared", optimtest.Squared, optimtest.Noisy, 1},
		{"poisson", optimtest.Poisson, optimtest.Count, 2},
	}, 1, 3) {
		points := optimtest.RandomPoints(3, 200, n, tc.label)
		problem := optimtest.Problem{Points: points, Loss: tc.exact, Lambda: make([]float64, n)}
		for i := range problem.Lambda {
			problem.Lambda[i] = 2 * tc.scale
		}
		want, err := problem.Newton()
		if err != nil {
			t.Fatal(err)
		}
		for name, method := range batchMethods {
			c := Config{
				Data:     DataConfig{Inputs: []Input{textInput("points", pointsText(points))}},
				Features: FeatureConfig{Bits: 4, NoConstant: true},
				Loss:     LossConfig{Function: tc.loss, MinPrediction: option.Some[float32](-50), MaxPrediction: option.Some[float32](50)},
				Reg:      RegConfig{L2: 2},
				Passes:   120,
				Batch:    BatchConfig{Termination: option.Some[float64](0)},
			}
			method(&c)
			got := trainedPrior(t, c)
			for i, w := range want {
				if g := float64(got.Mean[i]); !(math.Abs(g-w) <= 2e-4*max(1, math.Abs(w))) {
					t.Errorf("%s, %s: weight %d is %v, want %v", tc.loss, name, i, g, w)
				}
			}
		}
	}
}

// TestBatchOnRanksIsBatchOnOne: ranks take the path of one process over
// all examples, and all end with the same model.
func TestBatchOnRanksIsBatchOnOne(t *testing.T) {
	text := randomText(600)
	for name, method := range batchMethods {
		setup := func(c *Config) {
			c.Passes, c.Reg.L2, c.Reg.NoBias = 9, 1, true
			method(c)
		}
		var out files
		reports, errs := runRanks(t, deal(text, 3), func(rank int, c *Config) {
			setup(c)
			c.Output.Create, c.Reg.Output = out.create, fmt.Sprint(rank)
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		single := Config{Data: DataConfig{Inputs: []Input{textInput("all", text)}}, Features: FeatureConfig{Bits: 10}, Loss: LossConfig{Function: "logistic"}}
		setup(&single)
		want := trainedPrior(t, single)
		for rank, r := range reports {
			if r.Digest != reports[0].Digest || !bytes.Equal(out.m[fmt.Sprint(rank)], out.m["0"]) {
				t.Errorf("%s: rank %d ends with another model than rank 0", name, rank)
			}
		}
		got, err := model.ReadRegularizer(bytes.NewReader(out.m["0"]), model.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want.Mean {
			if !(math.Abs(float64(got.Mean[i]-w)) <= 1e-4*max(1, math.Abs(float64(w)))) {
				t.Errorf("%s: weight %d: %v on three ranks, %v on one", name, i, got.Mean[i], w)
			}
			if h := want.Precision[i]; !(math.Abs(float64(got.Precision[i]-h)) <= 1e-4*max(1, float64(h))) {
				t.Errorf("%s: regulariser %d: %v on three ranks, %v on one", name, i, got.Precision[i], h)
			}
		}
	}
}

// TestThreadsDoNotMatter: batches long enough to be shared out give the same
// bytes for any number of threads, whether the range of predictions is fixed or
// follows the labels; and the sums are those of one example after the other.
func TestThreadsDoNotMatter(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	text := randomText(3 * batchstage.Serial / 9) // features of one batch: three times what one thread computes
	for _, loss := range []string{"logistic", "squared"} {
		var want *model.Regularizer
		for _, threads := range []int{1, 2, 5} {
			runtime.GOMAXPROCS(threads)
			c := Config{
				Data:     DataConfig{Inputs: []Input{textInput("all", text)}},
				Features: FeatureConfig{Bits: 10},
				Loss:     LossConfig{Function: loss},
				Batch:    BatchConfig{BFGS: true},
				Reg:      RegConfig{L2: 1},
				Passes:   5,
			}
			got := trainedPrior(t, c)
			if want == nil {
				want = got
			} else if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %d threads find other weights than 1 (-1 +%d):\n%s", loss, threads, threads, d)
			}
		}
	}
}

// TestBatchHasClassWeights: a weight of a class is the weight of its examples.
func TestBatchHasClassWeights(t *testing.T) {
	text := randomText(300)
	config := func(text string) Config {
		return Config{
			Data:     DataConfig{Inputs: []Input{textInput(text[:20], text)}},
			Features: FeatureConfig{Bits: 10},
			Loss:     LossConfig{Function: "logistic"},
			Batch:    BatchConfig{BFGS: true},
			Reg:      RegConfig{L2: 1},
			Passes:   5,
		}
	}
	c := config(text)
	c.Data.ClassWeights = []ClassWeight{{Label: 1, Weight: 3}}
	got := trainedPrior(t, c)
	want := trainedPrior(t, config(strings.ReplaceAll("\n"+text, "\n1 |", "\n1 3 |")[1:]))
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-weights of examples +weights of classes)\n%s", d)
	}
}

// TestNoBiasSparesTheConstant: as λ grows all weights vanish but the free one,
// which then is the log-odds of the labels.
func TestNoBiasSparesTheConstant(t *testing.T) {
	text := strings.Repeat("1 |f a\n", 30) + strings.Repeat("-1 |f b\n", 10)
	c := Config{
		Data:     DataConfig{Inputs: []Input{textInput("x", text)}},
		Features: FeatureConfig{Bits: 10},
		Loss:     LossConfig{Function: "logistic"},
		Batch:    BatchConfig{BFGS: true, Termination: option.Some[float64](0)},
		Passes:   30,
		Reg:      RegConfig{L2: 1e4, NoBias: true},
	}
	r := trainedPrior(t, c)
	bias := feature.ConstantIndex & (1<<10 - 1)
	if got, want := float64(r.Mean[bias]), math.Log(3); math.Abs(got-want) > 1e-3 {
		t.Errorf("the constant is %v, want %v", got, want)
	}
	for i, w := range r.Mean {
		if uint32(i) != bias && math.Abs(float64(w)) > 1e-3 {
			t.Errorf("weight %d is %v beside a λ of 1e4", i, w)
		}
	}
}

// TestRegulariserCarriesData: with squared loss and one feature per example, the regulariser of
// a first set has all its information. A training on a second set that starts from it ends
// where a training on both sets ends.
func TestRegulariserCarriesData(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	lines := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "%.3f | %d:%.3f\n", r.NormFloat64(), r.IntN(8), r.NormFloat64())
		}
		return b.String()
	}
	first, second := lines(60), lines(40)
	config := func(text string) Config {
		return Config{
			Data:     DataConfig{Inputs: []Input{textInput("x", text)}},
			Features: FeatureConfig{Bits: 3, NoConstant: true},
			Batch:    BatchConfig{BFGS: true, Termination: option.Some[float64](0)},
			Passes:   40,
			Loss:     LossConfig{MinPrediction: option.Some[float32](-50), MaxPrediction: option.Some[float32](50)},
		}
	}
	a := config(first)
	a.Reg.L2 = 0.5
	var file bytes.Buffer
	if err := model.WriteRegularizer(&file, trainedPrior(t, a)); err != nil {
		t.Fatal(err)
	}
	b := config(second)
	b.Reg.Input, b.Model.Open = "prior", opens(file.Bytes())
	both := config(first + second)
	both.Reg.L2 = 0.5
	got, want := trainedPrior(t, b), trainedPrior(t, both)
	for i := range want.Mean {
		if d := math.Abs(float64(got.Mean[i] - want.Mean[i])); !(d < 1e-4) {
			t.Errorf("weight %d: %v after one another, %v together", i, got.Mean[i], want.Mean[i])
		}
		if d := math.Abs(float64(got.Precision[i] - want.Precision[i])); !(d < 1e-3) {
			t.Errorf("regulariser %d: %v after one another, %v together", i, got.Precision[i], want.Precision[i])
		}
	}
	c := config(second)
	c.Reg.Input, c.Model.Open = "prior", opens(encodedModel(t))
	if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "load it with learn.Config.Model.Initial") {
		t.Errorf("a model for a regulariser: got %v", err)
	}
}

// TestRegularisersOfVW9: on n ranks each file adds λ/n once more. A rank that writes no file
// also holds nothing out.
func TestRegularisersOfVW9(t *testing.T) {
	var out files
	_, errs := runRanks(t, deal(randomText(300), 4), func(rank int, c *Config) {
		c.Batch.BFGS, c.Batch.Semantics, c.Reg.L2, c.Passes, c.Holdout.Off = true, optim.VW9, 1, 100, false
		c.Output.Create, c.Reg.OutputOnAnyRank = out.create, true
		if rank == 0 {
			c.Model.Final, c.Reg.Output, c.Reg.OutputText = "model", "binary", "text"
		}
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	r, err := model.ReadRegularizer(bytes.NewReader(out.m["binary"]), model.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	reg, err := model.Read(bytes.NewReader(out.m["model"]), model.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range r.Precision {
		if v != 1.25 {
			t.Fatalf("λ of weight %d is %v, want 1.25", i, v)
		}
	}
	if d := cmp.Diff(reg.Weights.Data, r.Mean); d != "" {
		t.Errorf("centres are not the weights (-weights +centres)\n%s", d)
	}
	if text := string(out.m["text"]); !strings.Contains(text, "\n0:1.5\n") {
		t.Errorf("the second file:\n%.400s\nwant λ 1.5", text)
	}
}

// TestDivergenceIsNamed: sums that are not finite end the run on every rank. The error names
// the pass and the example or the weight.
func TestDivergenceIsNamed(t *testing.T) {
	sound := "1 | a:1 b:2\n-1 | a:1\n"
	for _, tc := range []struct{ name, line, loss, want string }{
		{"loss", "1e30 tag| a\n", "squared", "pass 1, example 3 (tag tag): its loss is +Inf (prediction 0, label 1e+30"},
		{"gradient", "1 1e38 | a:1e3\n", "logistic", "pass 1: the gradient at weight "},
		{"diagonal", "1 | a:1e30\n", "logistic", "pass 1: the diagonal of the Hessian at weight "},
	} {
		for name, method := range batchMethods {
			c := Config{
				Data:     DataConfig{Inputs: []Input{textInput("bad.vw", sound+tc.line)}},
				Features: FeatureConfig{Bits: 10},
				Loss:     LossConfig{Function: tc.loss},
				Holdout:  HoldoutConfig{Off: true},
				Passes:   5,
			}
			method(&c)
			_, err := Run(t.Context(), c)
			if e, ok := errors.AsType[*DataError](err); !ok || e.Name != "bad.vw" || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s, %s: got %v, want a fault of bad.vw with %q", tc.name, name, err, tc.want)
			}
		}
	}
	// Each rank's gradient is finite, their sum is not.
	_, errs := runRanks(t, []string{"1 3e38 | a:1.3\n", "1 3e38 | a:1.3\n"}, func(_ int, c *Config) {
		c.Batch.BFGS, c.Passes, c.Features.NoConstant = true, 5, true
	})
	if _, ok := errors.AsType[*DataError](errors.Join(errs...)); !ok {
		t.Errorf("got %v, want a fault of the data", errs)
	}
	for rank, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "pass 1: the gradient at weight ") {
			t.Errorf("rank %d got %v, want the weight at which the sum over the ranks is infinite", rank, err)
		}
	}
	nan := []float32{1, float32(math.NaN())}
	c := Config{Data: DataConfig{Inputs: []Input{textInput("x", sound)}}, Loss: LossConfig{Function: "logistic"}}.withDefaults()
	r := &runner{cfg: c}
	r.read = r.newReader(nil)
	if _, err := r.batch(nan, 5); err == nil || !strings.Contains(err.Error(), "cannot start at a weight of NaN (number 1)") {
		t.Errorf("a weight that is no number: got %v", err)
	}
}

// TestSemanticsDiffer: without a regulariser the preconditioner of vw 9 is 0
// after pass 1, so the run ends in pass 3; that of 7.10 continues.
func TestSemanticsDiffer(t *testing.T) {
	for semantics, want := range map[optim.Semantics]int{optim.VW7: 10, optim.VW9: 3} {
		c := Config{
			Data:     DataConfig{Inputs: []Input{textInput("x", randomText(100))}},
			Features: FeatureConfig{Bits: 10},
			Loss:     LossConfig{Function: "logistic"},
			Batch:    BatchConfig{BFGS: true, Termination: option.Some[float64](0), Semantics: semantics},
			Passes:   10,
			Holdout:  HoldoutConfig{Off: true},
		}
		r, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Passes != want {
			t.Errorf("%v: %d passes, want %d", semantics, r.Passes, want)
		}
	}
}

func opens(file []byte) func(string) (io.ReadCloser, error) {
	return func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }
}

func encodedModel(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	reg := &model.Regressor{Header: model.Header{Bits: 3}, Weights: model.View{Data: make([]float32, 8)}}
	if err := model.Write(&b, reg); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
