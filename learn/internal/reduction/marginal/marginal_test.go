// SPDX-License-Identifier: Apache-2.0

package marginal

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/reduction"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/sgd"
)

// made returns a learner with 1,024 weights, for ids in the namespace m.
func made(t testing.TB, v reduction.Values) *learner {
	t.Helper()
	v["marginal"] = []string{"m"}
	p, err := plan(v)
	if err != nil {
		t.Fatal(err)
	}
	l, err := loss.New("squared")
	if err != nil {
		t.Fatal(err)
	}
	s, err := sgd.NewSlots(sgd.Config{Bits: 10, LearningRate: 0.5, PowerT: 0.5, Adaptive: true, Normalized: true}, l, 1, 1, 4)
	if err != nil {
		t.Fatal(err)
	}
	made, err := p.Make(&reduction.Env{Base: s, Loss: l})
	if err != nil {
		t.Fatal(err)
	}
	return made.(*learner)
}

// learn lets l learn from an example with the given features in the namespace m, and one in another.
func learn(l *learner, label float32, at ...uint32) reduction.Result {
	var b feature.Batch
	for _, i := range at {
		b.Features = append(b.Features, feature.Feature{Index: i, Value: 1})
	}
	n := uint32(len(at))
	b.Features = append(b.Features, feature.Feature{Index: 1000, Value: 0.5})
	b.Spans = []feature.Span{{NS: 'm', Hi: n}, {NS: 'n', Lo: n, Hi: n + 1}}
	return l.Learn(&b, &feature.Example{Label: label, Weight: 1, SpanHi: 2, FeatHi: n + 1})
}

// The features of ids have the means of the labels before, and other features are as they are.
func TestIDsHaveTheMeansOfLabels(t *testing.T) {
	l := made(t, reduction.Values{})
	for i, want := range []float32{0.5, (0.5 + 1) / 2, (0.5 + 1 + 4) / 3} {
		learn(l, []float32{1, 4, 0}[i], 7, 30, 9) // the last feature has no second one
		got := []feature.Feature{{Index: 7, Value: want}, {Index: 1000, Value: 0.5}}
		if diff := cmp.Diff(got, l.placed); diff != "" {
			t.Errorf("example %d (-want +got):\n%s", i, diff)
		}
	}
}

// A mean that predicts better than the linear learner gets more weight in the vote.
func TestTheBetterExpertWins(t *testing.T) {
	l := made(t, reduction.Values{"compete": {"true"}, "initial_numerator": {"1"}})
	var last reduction.Result
	for range 30 {
		last = learn(l, 1, 7, 30)
	}
	e := l.seen(30).experts
	if e[0].regret <= e[1].regret {
		t.Errorf("a mean without any error has the regret %v, the linear learner %v", e[0].regret, e[1].regret)
	}
	if math.Abs(float64(last.Score-1)) > 0.01 {
		t.Errorf("the vote is %v after 30 examples with the label 1", last.Score)
	}
}

// The mean of an id begins with its first example, also with one that has no label, whose later pair may have other
// values than 1: to vw 9.11.9 the four examples " |a x y", "1 |a x:2 y" and twice "1 |a x y" give the mean 3.5/4.
// A prediction that is only measured, of a test that writes no model, or of a server, leaves no record.
func TestUnlabeledExamplesBeginMeans(t *testing.T) {
	var b feature.Batch
	b.Features = []feature.Feature{{Index: 7, Value: 1}, {Index: 30, Value: 1}, {Index: 7, Value: 2}, {Index: 30, Value: 1}}
	b.Spans = []feature.Span{{NS: 'm', Hi: 2}, {NS: 'm', Lo: 2, Hi: 4}}
	ones := feature.Example{Label: feature.NoLabel, Weight: 1, SpanHi: 1, FeatHi: 2}
	for _, c := range []struct {
		name    string
		testing bool
		saves   bool
		endless bool
		once    bool // not only measured
		want    int
	}{
		{"training", false, false, false, true, 1},
		{"measured", false, true, false, false, 0},
		{"test", true, false, false, true, 0},
		{"test that writes a model", true, true, false, true, 1},
		{"server", false, true, true, true, 0},
	} {
		l := made(t, reduction.Values{})
		l.env.Testing, l.env.Saves, l.env.Endless = c.testing, c.saves, c.endless
		if c.once {
			l.Advance(&ones)
		}
		l.Predict(&b, &ones)
		if len(l.records) != c.want {
			t.Errorf("%s: %d records, want %d", c.name, len(l.records), c.want)
		}
	}

	l := made(t, reduction.Values{})
	l.Advance(&ones)
	l.Predict(&b, &ones)
	twos := feature.Example{Label: 1, Weight: 1, SpanLo: 1, SpanHi: 2, FeatLo: 2, FeatHi: 4}
	ones.Label = 1
	for _, ex := range []*feature.Example{&twos, &ones, &ones} {
		l.Advance(ex)
		l.Learn(&b, ex)
	}
	if got, want := l.seen(30).mean, (mean{3.5, 4}); got != want {
		t.Errorf("got the mean %v, want %v", got, want)
	}
}

// State and section carry the means and the experts from one learner to another.
func TestMeansAreKept(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := reduction.Values{}
		if rapid.Bool().Draw(rt, "compete") {
			v["compete"] = []string{"true"}
		}
		l, to, loaded := made(t, v), made(t, v), made(t, v)
		learn(to, 3, 1, 2) // SetState replaces what there is
		for range rapid.IntRange(0, 20).Draw(rt, "examples") {
			learn(l, rapid.Float32Range(-1, 1).Draw(rt, "label"), rapid.SliceOfN(rapid.Uint32Range(0, 50), 0, 6).Draw(rt, "features")...)
		}
		to.SetState(l.AppendState(nil))
		section := l.AppendSection(nil)
		if err := loaded.SetSection(section); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(l.records, to.records, cmp.AllowUnexported(record{}, mean{}, expert{}), cmpopts.EquateEmpty()); diff != "" {
			rt.Errorf("state (-want +got):\n%s", diff)
		}
		if got := loaded.AppendSection(nil); !bytes.Equal(got, section) {
			rt.Errorf("got section %x, want %x", got, section)
		}
		if len(section) > 8 {
			if err := loaded.SetSection(section[:len(section)-1]); err == nil {
				rt.Error("a section that is cut off is accepted")
			}
		}
	})
}

// Faults of options are reported at once.
func TestFaultsOfMarginals(t *testing.T) {
	_, err := plan(reduction.Values{"marginal": {""}, "decay": {"x"}, "update_before_learn": {"true"}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"marginal: no namespaces", "decay: x: want a finite number", "update_before_learn: with it"} {
		if !bytes.Contains([]byte(err.Error()), []byte(want)) {
			t.Errorf("error %q does not contain %q", err, want)
		}
	}
}
