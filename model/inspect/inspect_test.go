// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/model"
)

// small returns a model of 8 weights.
func small(weights ...float32) *model.Regressor {
	r := &model.Regressor{
		Header:  model.Header{Version: "9.11.9", MinLabel: -1, MaxLabel: 1, Bits: 3, Options: []model.Option{{Name: "quadratic", Value: "ab"}}},
		Weights: model.View{Data: make([]float32, 8), Stride: 1},
	}
	copy(r.Weights.Data, weights)
	return r
}

func TestModelAndTop(t *testing.T) {
	names := NewNames()
	names.Note(2, "a^x")
	names.Note(4, "a^x*b^y")
	names.Note(4, "plain")
	names.Note(5, "Constant")
	r := small(0, 0.5, -2, 0, 1)
	r.ID = "mine"
	got := string(AppendModel(nil, "m", r)) + "\n" + string(AppendTop(nil, r, names, 2)) + "\n" + string(AppendNamespaces(nil, r, names))
	want := `model      m, of version 9.11.9
id         mine
bits       3
labels     -1 to 1
options    --quadratic ab
state      none: to predict with
weights    3 of 8 are not 0, from -2 to 1
size       sum of |w| 3.5, root of the sum of w² 2.29129

      weight  relative      index  name
          -2  -100.00%          2  a^x
           1    50.00%          4  a^x*b^y  (2 names share this weight)
           1    50.00%          4  plain  (2 names share this weight)

  features      not 0   sum of |w|  largest |w|  namespace
         1          1            2            2  a
         1          1            1            1  (default)
         1          1            1            1  a*b
         1          0            0            0  Constant
2 of 4 names share their weight with others: more bits would part them
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := string(AppendTop(nil, small(), nil, 5)); got != "all weights are 0\n" {
		t.Errorf("a model of nothing: %q", got)
	}
	if got := string(AppendTop(nil, r, nil, -1)); strings.Count(got, "\n") != 4 || strings.Contains(got, "name") {
		t.Errorf("all weights, without names:\n%s", got)
	}
}

// Data provides names, counts and ranges.
func TestSeeData(t *testing.T) {
	cfg := feature.Config{Bits: 3, Names: true, NoConstant: true}
	p, err := feature.NewParser(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var b feature.Batch
	for i, line := range []string{"1 |a x:2", "1 |a x:-1 y", "| plain"} {
		if err := p.AppendLine(&b, []byte(line), int64(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	names := NewNames()
	names.See(&b)
	var got []Feature
	for _, f := range names.all() {
		got = append(got, *f)
	}
	want := []Feature{
		{Name: "a^x", Index: cfg.Index("a", "x"), Count: 2, Min: -1, Max: 2},
		{Name: "a^y", Index: cfg.Index("a", "y"), Count: 1, Min: 1, Max: 1},
		{Name: "plain", Index: cfg.Index("", "plain"), Count: 1, Min: 1, Max: 1},
	}
	byName := func(fs []Feature) map[string]Feature {
		m := map[string]Feature{}
		for _, f := range fs {
			m[f.Name] = f
		}
		return m
	}
	if diff := cmp.Diff(byName(want), byName(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r := small()
	r.Weights.Data[cfg.Index("a", "x")] = 3
	if text := string(AppendTop(nil, r, names, 1)); !strings.Contains(text, "        2          -1           2  a^x") {
		t.Errorf("no count and range:\n%s", text)
	}
}

func TestDiff(t *testing.T) {
	a, b := small(0, 1, 2, 3), small(0, 1, 2.5, 0, 7)
	b.Options = nil
	names := NewNames()
	names.Note(4, "new")
	want := `options    --quadratic ab | 
weights    1 differ, 1 are not 0 in the first alone, 1 in the second alone, 1 are the same
distance   7.63217, cosine 0.213809

       first       second   difference      index  name
           0            7            7          4  new
           3            0           -3          3
`
	if diff := cmp.Diff(want, string(AppendDiff(nil, a, b, names, 2))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := string(AppendDiff(nil, a, a, nil, 5)); got != "the models are the same\n" {
		t.Errorf("a model and itself: %q", got)
	}
	for _, d := range []struct {
		want   string
		change func(r *model.Regressor)
	}{
		{"section    4 bytes | 1 bytes\nweights    the same\n", func(r *model.Regressor) { r.Section = []byte{1} }},
		{"section    the 4 bytes beside the weights differ\nweights    the same\n", func(r *model.Regressor) { r.Section = []byte("even") }},
		{"state      other sums over the examples differ\nweights    the same\n", func(r *model.Regressor) { r.Resume.SumLoss = 2 }},
		{"floats     2 differ beside the weights, such as adaptive sums\nweights    the same\n", func(r *model.Regressor) {
			r.Weights.Data[5], r.Weights.Data[6], r.Weights.Data[2] = 1, 1, 1
		}},
		{"the models are the same\n", func(r *model.Regressor) { r.Weights.Data[1] = 1 }}, // of no slot
	} {
		state := func() *model.Regressor {
			r := small()
			r.Section, r.Resume = []byte("odd!"), &model.Resume{T: 3}
			r.Weights = model.View{Data: make([]float32, 4<<r.Bits), Stride: 4, Slots: []int{0, 2, 3}}
			return r
		}
		r := state()
		d.change(r)
		if diff := cmp.Diff(d.want, string(AppendDiff(nil, state(), r, nil, 5))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	odd := func(t, sum float64, weight, other float32) *model.Regressor {
		r := small()
		r.Resume = &model.Resume{T: t, SumLoss: sum, Models: []model.ModelSums{{NormNormalizer: sum}}}
		r.Weights = model.View{Data: make([]float32, 16), Stride: 2, Slots: []int{0, 1}}
		r.Weights.Data[4], r.Weights.Data[5] = weight, other
		return r
	}
	none := math.NaN()
	nan, inf := float32(none), float32(math.Inf(1))
	for _, d := range []struct {
		a, b *model.Regressor
		want string
	}{
		{odd(none, none, nan, nan), odd(none, none, nan, nan), "the models are the same\n"},
		{odd(1, none, 1, 0), odd(1, none, 1, 0), "the models are the same\n"},
		{odd(1, 1, inf, inf), odd(1, 1, inf, inf), "the models are the same\n"},
		{odd(none, 1, 1, 0), odd(1, 1, 1, 0), "state      t = NaN | t = 1\nweights    the same\n"},
		{odd(none, 1, 1, 0), odd(none, none, 1, 0), "state      other sums over the examples differ\nweights    the same\n"},
		{odd(1, 1, 1, nan), odd(1, 1, 1, 2), "floats     1 differ beside the weights, such as adaptive sums\nweights    the same\n"},
	} {
		if diff := cmp.Diff(d.want, string(AppendDiff(nil, d.a, d.b, nil, 5))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	large, broken := small(0, 1, 2, 3), small(0, 1, 9, nan)
	if got := string(AppendDiff(nil, large, broken, nil, 1)); !strings.HasSuffix(got, "           3          NaN          NaN          3\n") {
		t.Errorf("a weight that is NaN is not the first difference:\n%s", got)
	}
	if got := Top(broken, 1); len(got) != 1 || got[0].Index != 3 {
		t.Errorf("got %v as the largest weight, want the NaN", got)
	}
	if got := string(AppendTop(nil, broken, nil, 2)); !strings.Contains(got, "           9   100.00%          2") {
		t.Errorf("the weights are not relative to the largest finite one:\n%s", got)
	}
	rows := func(factor float32) *model.Regressor {
		r := small()
		r.Options = []model.Option{{Name: "rank", Value: "1"}}
		r.Weights = model.View{Data: make([]float32, 4<<r.Bits), Stride: 4}
		r.Weights.Data[6] = factor
		return r
	}
	if got := string(AppendDiff(nil, rows(1), rows(2), nil, 5)); !strings.HasPrefix(got, "floats     1 differ beside") {
		t.Errorf("models of other factors:\n%s", got)
	}
	c := small()
	c.Bits = 4
	if got := string(AppendDiff(nil, a, c, nil, 5)); !strings.Contains(got, "bits       3 | 4\n") || !strings.Contains(got, "cannot be compared") {
		t.Errorf("models of other sizes:\n%s", got)
	}
}
