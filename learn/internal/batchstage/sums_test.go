// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/internal/vwtext"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
)

// width is the number of weights in the tests.
const width = 8

// fataler is a test, or a run of rapid.
type fataler interface{ Fatal(args ...any) }

// newSummation returns a summation of the logistic loss, whose range of predictions is fixed if
// fixed is true.
func newSummation(t fataler, fixed bool) *summation {
	l, err := loss.New("logistic")
	if err != nil {
		t.Fatal(err)
	}
	link, err := loss.NewLink("identity")
	if err != nil {
		t.Fatal(err)
	}
	table, err := vwtext.NewTable(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	r, _ := loss.DefaultRange(l)
	return &summation{
		read: &examples.Reader{Name: "data"},
		tally: &tally.Tally{
			Loss: l, Link: link, Seen: r, Fixed: fixed, Stats: vwtext.NewStats(), Files: &output.PredictionFiles{},
			Console: &output.Console{Table: table, Hold: &output.Hold{}},
		},
	}
}

// drawBatch returns examples with few features, some without a label or weight.
func drawBatch(t *rapid.T) *feature.Batch {
	b := &feature.Batch{}
	for range rapid.IntRange(1, 8).Draw(t, "examples") {
		lo := uint32(len(b.Features))
		for range rapid.IntRange(0, 4).Draw(t, "features") {
			b.Features = append(b.Features, feature.Feature{
				Index: rapid.Uint32Range(0, width-1).Draw(t, "index"), Value: rapid.Float32Range(-2, 2).Draw(t, "value"),
			})
		}
		b.Examples = append(b.Examples, feature.Example{
			Label: rapid.SampledFrom([]float32{-1, 1, 1, feature.NoLabel}).Draw(t, "label"), Weight: rapid.SampledFrom([]float32{1, 2.5, 0}).Draw(t, "weight"),
			Initial: rapid.Float32Range(-1, 1).Draw(t, "initial"), FeatLo: lo, FeatHi: uint32(len(b.Features)),
		})
	}
	return b
}

// vectorOf draws a vector of the width.
func vectorOf(t *rapid.T, name string) []float32 {
	return rapid.SliceOfN(rapid.Float32Range(-1, 1), width, width).Draw(t, name)
}

// The sums of a pass are those of their definition, whichever of them are requested, and whether
// or not each prediction must wait for the labels before it.
func TestSumsAreThoseOfTheirDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, a := drawBatch(t), newSummation(t, rapid.Bool().Draw(t, "fixed range"))
		a.semantics = optim.Semantics(rapid.IntRange(0, 1).Draw(t, "version of vw"))
		req := optim.Request{Kind: optim.Kind(rapid.IntRange(0, 2).Draw(t, "kind")), X: vectorOf(t, "weights"), Dir: vectorOf(t, "direction")}
		sums := &optim.Sums{}
		room(sums, req.Kind, width)
		a.begin(req, sums, 1)
		if err := a.batch(b); err != nil {
			t.Fatal(err)
		}
		if err := a.end(); err != nil {
			t.Fatal(err)
		}
		var want optim.Sums
		gradient, diagonal := make([]float64, width), make([]float64, width)
		for i := range b.Examples {
			ex := &b.Examples[i]
			if !ex.Labeled() || ex.Weight <= 0 {
				continue
			}
			w, y := float64(ex.Weight), float64(ex.Label)
			p, along := float64(ex.Initial), 0.0
			if a.semantics == optim.VW9 {
				along = p
			}
			for _, f := range b.FeaturesOf(ex) {
				p += float64(req.X[f.Index]) * float64(f.Value)
				along += float64(req.Dir[f.Index]) * float64(f.Value)
			}
			sigmoid := 1 / (1 + math.Exp(y*p))
			want.Loss += w * math.Log1p(math.Exp(-y*p))
			want.Weight += w
			want.Curvature += w * sigmoid * (1 - sigmoid) * along * along
			for _, f := range b.FeaturesOf(ex) {
				gradient[f.Index] += w * -y * sigmoid * float64(f.Value)
				diagonal[f.Index] += w * sigmoid * (1 - sigmoid) * float64(f.Value) * float64(f.Value)
			}
		}
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
				t.Fatalf("%v: %s is %v, want %v", req.Kind, what, got, want)
			}
		}
		if req.Kind == optim.Curvature {
			near("the curvature", sums.Curvature, want.Curvature)
			return
		}
		near("the loss", sums.Loss, want.Loss)
		near("the weight", sums.Weight, want.Weight)
		for i := range width {
			near("the gradient", float64(sums.Gradient[i]), gradient[i])
			if req.Kind == optim.First {
				near("the diagonal", float64(sums.Diagonal[i]), diagonal[i])
			}
		}
	})
}

// Whether one thread or several add up the vectors, each sum has the same bits.
func TestThreadsChangeNoBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, a := drawBatch(t), newSummation(t, true)
		req := optim.Request{Kind: optim.First, X: vectorOf(t, "weights")}
		a.begin(req, &optim.Sums{}, 1)
		if err := a.batch(b); err != nil {
			t.Fatal(err)
		}
		want := [2][]float64{a.gradient, a.diagonal}
		a.gradient, a.diagonal = make([]float64, width), make([]float64, width)
		a.scatter(contributions{b, a.examples, a.terms}, true)
		if diff := cmp.Diff(want, [2][]float64{a.gradient, a.diagonal}); diff != "" {
			t.Fatalf("(-one thread +several):\n%s", diff)
		}
	})
}

// Large batches in memory, whose vectors are added up beside the next batch, have the sums of batches one after another.
func TestVectorsBesideTheNextBatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	vector := func() []float32 {
		v := make([]float32, 1000)
		for i := range v {
			v[i] = rng.Float32() - 0.5
		}
		return v
	}
	batches := make([]*feature.Batch, 7)
	for k := range batches {
		b, least := &feature.Batch{}, Serial+rng.IntN(Serial)
		if k == len(batches)-1 {
			least = Serial / 2 // what remains is added up by one thread
		}
		for len(b.Features) < least {
			lo := uint32(len(b.Features))
			for range rng.IntN(100) {
				b.Features = append(b.Features, feature.Feature{Index: uint32(rng.IntN(1000)), Value: rng.Float32()})
			}
			b.Examples = append(b.Examples, feature.Example{Label: float32(2*rng.IntN(2) - 1), Weight: 1, FeatLo: lo, FeatHi: uint32(len(b.Features))})
		}
		batches[k] = b
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	x, dir := vector(), vector()
	for _, c := range []struct {
		kind    optim.Kind
		numbers bool // the pass numbers the weights, so that the vectors grow
	}{{optim.First, false}, {optim.First, true}, {optim.Gradient, false}, {optim.Product, false}} {
		var want *optim.Sums
		for _, joined := range []bool{false, true} {
			a := newSummation(t, true)
			a.joined = joined
			got := &optim.Sums{}
			room(got, c.kind, len(x))
			if c.numbers {
				first := appearance(nil)
				a.first = &first
			}
			a.begin(optim.Request{Kind: c.kind, X: x, Dir: dir}, got, 1)
			for _, b := range batches {
				if err := a.batch(b); err != nil {
					t.Fatal(err)
				}
			}
			a.scattering.Wait()
			if err := a.end(); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%+v: (-one after another +beside the next):\n%s", c, diff)
			}
		}
	}
}

// A sum that overflows float32 is an error with the number of the weight.
func TestNarrow(t *testing.T) {
	a := &summation{read: &examples.Reader{Name: "data"}, pass: 3}
	dst := make([]float32, 3)
	if err := a.narrow("gradient", dst, []float64{1, -2, 1e-50}); err != nil || dst[1] != -2 || dst[2] != 0 {
		t.Errorf("got %v, error %v", dst, err)
	}
	for _, v := range []float64{1e39, -1e39, math.NaN()} {
		err := a.narrow("gradient", dst, []float64{1, v, v})
		if err == nil || !strings.HasPrefix(err.Error(), "data: ") || !strings.Contains(err.Error(), "gradient") || !strings.Contains(err.Error(), "1") {
			t.Errorf("%v: got %v", v, err)
		}
	}
}

// An example that makes a sum infinite is named, with its tag and what it has.
func TestDivergedNamesTheExample(t *testing.T) {
	b := &feature.Batch{Tags: []byte("tag")}
	ex := &feature.Example{Label: 1, Weight: 2, TagHi: 3}
	for want, c := range map[string]struct {
		kind optim.Kind
		loss float32
	}{
		"its loss is +Inf":              {optim.Gradient, float32(math.Inf(1))},
		"the sum of the losses is 8":    {optim.Gradient, 3},
		"the curvature with it is +Inf": {optim.Curvature, 3},
	} {
		a := &summation{
			read: &examples.Reader{Name: "data"}, pass: 4, n: 17, req: optim.Request{Kind: c.kind},
			sums: &optim.Sums{Loss: 8, Curvature: math.Inf(1)},
		}
		err := a.diverged(b, ex, 0.5, c.loss)
		if full := "data: pass 4, example 17 (tag tag): " + want + " (prediction 0.5, label 1, importance 2): "; !strings.HasPrefix(err.Error(), full) {
			t.Errorf("got %v, want %s", err, full)
		}
	}
}

// The scalars of a search survive writing and reading, also those that are not finite.
func TestHeadRoundTrip(t *testing.T) {
	number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(-1), math.Copysign(0, -1)}))
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) float64 { return number.Draw(t, name) }
		want := descent.Head{
			Next: optim.Kind(rapid.IntRange(0, int(optim.Curvature)).Draw(t, "next")), Status: optim.Status(rapid.IntRange(0, int(optim.PassLimit)).Draw(t, "status")),
			Pass: rapid.IntRange(0, 1<<40).Draw(t, "pass"), Weight: draw("weight"), Loss: draw("loss"), Step: draw("step"),
			Last: optim.Row{
				Pass: rapid.IntRange(0, 99).Draw(t, "row"), Kind: optim.Gradient, Move: optim.Revise,
				Loss: draw("row loss"), Slope: draw("slope"), Conditioned: draw("conditioned"), Holdout: draw("holdout"),
				Wolfe1: draw("wolfe1"), Wolfe2: draw("wolfe2"), Mix: draw("mix"), Factor: draw("factor"),
				Curvature: draw("curvature"), Length: draw("length"), Step: draw("row step"),
				HeldOut: rapid.Bool().Draw(t, "held out"), HoldoutKnown: rapid.Bool().Draw(t, "known"), Mixes: rapid.Bool().Draw(t, "mixes"),
			},
		}
		w := snapshot.Encode(nil)
		codeHead(&w, &want)
		var got descent.Head
		r := snapshot.Decode(w.Bytes())
		codeHead(&r, &got)
		if err := r.End("the head"); err != nil {
			t.Fatal(err)
		}
		bits := cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
		if diff := cmp.Diff(want, got, bits); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// A rank keeps the diagonal only while a pass needs it, and the gradient always.
func TestRoom(t *testing.T) {
	var s optim.Sums
	for _, kind := range []optim.Kind{optim.Gradient, optim.First, optim.Curvature, optim.First} {
		g := s.Gradient
		room(&s, kind, width)
		if len(s.Gradient) != width || g != nil && &g[0] != &s.Gradient[0] {
			t.Errorf("%v: another gradient of %d numbers", kind, len(s.Gradient))
		}
		if want := map[bool]int{true: width}[kind == optim.First]; len(s.Diagonal) != want {
			t.Errorf("%v: a diagonal of %d numbers, want %d", kind, len(s.Diagonal), want)
		}
	}
}
