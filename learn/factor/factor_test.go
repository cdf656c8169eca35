// SPDX-License-Identifier: Apache-2.0

package factor

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/learn/internal/modeltest"
)

// drawn returns ratings of a model with two factors, without noise.
func drawn(seed uint64, users, items, n int) []Rating {
	r := rand.New(rand.NewPCG(seed, 1))
	p, q := make([][3]float64, users), make([][3]float64, items)
	for _, rows := range [][][3]float64{p, q} {
		for i := range rows {
			for f := range rows[i] {
				rows[i][f] = r.NormFloat64()
			}
		}
	}
	out := make([]Rating, n)
	for i := range out {
		u, v := r.IntN(users), r.IntN(items)
		x := 3 + p[u][0] + q[v][0] + p[u][1]*q[v][1] + p[u][2]*q[v][2]
		out[i] = Rating{User: u, Item: v, Value: float32(x)}
	}
	return out
}

func trained(t testing.TB, c Config, ratings []Rating, passes int) *Model {
	t.Helper()
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for pass := range passes {
		for _, r := range ratings {
			m.Update(r, pass)
		}
	}
	return m
}

func rmse(m *Model, ratings []Rating) float64 {
	sum := 0.0
	for _, r := range ratings {
		d := float64(r.Value) - m.Predict(r.User, r.Item)
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(ratings)))
}

// TestTheStepIsTheGradient compares a step of Update with finite differences of its objective.
func TestTheStepIsTheGradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{
			Users: 2, Items: 3, Factors: rapid.IntRange(1, 5).Draw(t, "factors"), OnlyBiases: rapid.Bool().Draw(t, "biases"),
			Rate: 1.0 / 1024, Lambda: 0.5, Mean: 1, Seed: rapid.Uint64().Draw(t, "seed"),
		}
		m, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		r := Rating{User: 1, Item: 2, Value: float32(rapid.IntRange(-5, 5).Draw(t, "value")), Weight: rapid.SampledFrom([]float32{0, 0.5, 1, 2}).Draw(t, "weight")}
		weight := float64(r.Weight)
		if weight == 0 {
			weight = 1
		}
		objective := func() float64 {
			p, q := m.row(m.users, r.User), m.row(m.items, r.Item)
			miss := float64(r.Value) - m.raw(p, q)
			sum := miss * miss
			n := len(p)
			if c.OnlyBiases {
				n = 1
			}
			for f := range n {
				sum += c.Lambda * (float64(p[f])*float64(p[f]) + float64(q[f])*float64(q[f]))
			}
			return weight * sum / 2
		}
		for _, rows := range [][]float32{m.users, m.items} {
			slopes := make([]float64, len(rows))
			for i := range rows {
				const h = 1.0 / 256
				old := rows[i]
				rows[i] = old + h
				up := objective()
				rows[i] = old - h
				slopes[i] = (up - objective()) / float64(float32(old+h)-float32(old-h))
				rows[i] = old
			}
			users, items := slices.Clone(m.users), slices.Clone(m.items)
			before := slices.Clone(rows)
			m.Update(r, 0)
			for i := range rows {
				got := (float64(before[i]) - float64(rows[i])) / c.Rate
				if math.Abs(got-slopes[i]) > 0.01*(1+math.Abs(slopes[i])) {
					t.Fatalf("entry %d: the step has slope %v, finite differences %v", i, got, slopes[i])
				}
			}
			copy(m.users, users)
			copy(m.items, items)
		}
	})
}

// TestGreatWeightsDoNotDiverge learns from ratings with weights with which plain steps of the same rate diverge.
func TestGreatWeightsDoNotDiverge(t *testing.T) {
	ratings := drawn(1, 20, 10, 500)
	for i := range ratings {
		ratings[i].Weight = float32(math.Pow(10, float64(i%10)))
	}
	c := Config{Users: 20, Items: 10, Factors: 2, Rate: 0.05, Lambda: 1e-4, Mean: 3}
	m := trained(t, c, ratings, 20)
	if got, mean := rmse(m, ratings), rmse(trained(t, c, nil, 0), ratings); !(got < 0.5*mean) {
		t.Errorf("RMSE: got %v, want less than half of %v", got, mean)
	}
	step := drawn(2, 1, 1, 1)[0]
	m = trained(t, Config{Users: 1, Items: 1, OnlyBiases: true, Mean: 1}, nil, 0)
	step.Weight = 1e6
	m.Update(step, 0)
	if got, want := m.Predict(0, 0), float64(step.Value); math.Abs(got-want) > 0.05*math.Abs(want-1) {
		t.Errorf("prediction after a step of great weight: got %v, want about %v", got, want)
	}
}

// TestUpdateIgnoresOtherWeights gives weights that are none. They must not change the model.
func TestUpdateIgnoresOtherWeights(t *testing.T) {
	for _, weight := range []float32{-1, float32(math.Inf(-1)), float32(math.NaN())} {
		m := trained(t, Config{Users: 1, Items: 1, Factors: 2, Mean: 1}, nil, 0)
		users, items := slices.Clone(m.users), slices.Clone(m.items)
		before := m.Predict(0, 0)
		if miss := m.Update(Rating{Value: 5, Weight: weight}, 0); miss != 5-before {
			t.Errorf("weight %v: got the error %v, want %v", weight, miss, 5-before)
		}
		if !slices.Equal(m.users, users) || !slices.Equal(m.items, items) {
			t.Errorf("weight %v: the model has changed", weight)
		}
	}
}

func TestKnownStep(t *testing.T) {
	m, err := New(Config{
		Users: 1, Items: 1, Factors: 1, Rate: 0.5, Decay: 1, Lambda: 0.5, Mean: 1, Continue: true,
		UserRows: []float32{0, 2}, ItemRows: []float32{0, 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	if miss := m.Update(Rating{Value: 5}, 1); miss != 2 { // 5 − (1 + 2·1), with rate 0.25
		t.Errorf("error: got %v, want 2", miss)
	}
	want := [][]float32{{0.5, 2*0.875 + 0.5}, {0.5, 0.875 + 1}}
	if diff := cmp.Diff(want, [][]float32{m.users, m.items}); diff != "" {
		t.Error(diff)
	}
}

func TestItFindsTheFactors(t *testing.T) {
	ratings := drawn(1, 60, 40, 6000)
	c := Config{Users: 60, Items: 40, Factors: 4, Rate: 0.05, Decay: 0.02, Lambda: 1e-4, Mean: 3}
	m := trained(t, c, ratings[:5000], 60)
	if got := rmse(m, ratings[5000:]); got > 0.2 {
		t.Errorf("RMSE: got %v, want 0.2", got)
	}
	c.OnlyBiases = true
	if got := rmse(trained(t, c, ratings[:5000], 60), ratings[5000:]); got < 1 {
		t.Errorf("RMSE with biases only: got %v, want more than 1: the ratings have factors", got)
	}
	c.OnlyBiases, c.Seed = false, 9
	if a, b := trained(t, c, ratings, 2), trained(t, c, ratings, 2); !slices.Equal(a.users, b.users) || !slices.Equal(a.items, b.items) {
		t.Error("the same seed and order gave different models")
	}
}

func TestUnknownRowsAndLimits(t *testing.T) {
	m, err := New(Config{
		Users: 1, Items: 1, Factors: 1, Mean: 1, Low: -2, High: 4, Continue: true,
		UserRows: []float32{1, 10}, ItemRows: []float32{-2, 10},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := []float64{m.Predict(-1, -1), m.Predict(0, -1), m.Predict(-1, 0), m.Predict(0, 0)}
	if diff := cmp.Diff([]float64{1, 2, -1, 4}, got); diff != "" {
		t.Error(diff)
	}
}

func TestUpdateAndPredictAllocateNothing(t *testing.T) {
	ratings := drawn(1, 5, 5, 20)
	m := trained(t, Config{Users: 5, Items: 5}, nil, 0)
	if n := testing.AllocsPerRun(100, func() {
		for _, r := range ratings {
			m.Update(r, 0)
			m.Predict(r.User, r.Item)
		}
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func TestValidateReportsAllFaults(t *testing.T) {
	err := Config{Factors: -1, Rate: -1, Lambda: math.NaN(), Low: 2, High: 1}.Validate()
	modeltest.Faults(t, err, "Users", "Items", "Factors", "Rate", "Lambda", "High")
	err = Config{Users: 2, Items: 2, UserIDs: []uint32{1}, ItemRows: []float32{1}, Continue: true}.Validate()
	modeltest.Faults(t, err, "UserIDs", "ItemRows", "Continue")
}

func TestBinaryRoundTrip(t *testing.T) {
	ratings := drawn(1, 3, 4, 50)
	for _, ids := range []bool{false, true} {
		c := Config{Users: 3, Items: 4, Factors: 2, Mean: 3}
		if ids {
			c.UserIDs, c.ItemIDs = []uint32{7, 8, 9}, []uint32{1, 2, 3, 4}
		}
		m := trained(t, c, ratings, 3)
		var read Model
		modeltest.RoundTrip(t, m, &read)
		if diff := cmp.Diff([]any{m.users, m.items, c.UserIDs, c.ItemIDs}, []any{read.users, read.items, read.Config().UserIDs, read.Config().ItemIDs}); diff != "" {
			t.Error(diff)
		}
	}
}

func FuzzUnmarshalBinary(f *testing.F) {
	modeltest.Fuzz(f, trained(f, Config{Users: 2, Items: 1, Factors: 1, UserIDs: []uint32{3, 4}}, nil, 0), nil)
}
