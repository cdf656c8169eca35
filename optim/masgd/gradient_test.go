// SPDX-License-Identifier: Apache-2.0

package masgd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gvw-project/gvw/loss"
)

// A step along the gradients that two ranks have summed is the step of the definition over all of their examples.
func TestDescendTakesTheStepOfAllRanks(t *testing.T) {
	for _, name := range []string{"squared", "logistic", "hinge"} {
		c := Config{Loss: lossOf(t, name), Rate: 0.3, PowerT: 0.5, L1: 1e-2, L2: 0.1, Batch: 30}
		const n = 10
		rng := rand.New(rand.NewPCG(5, 5))
		w, want := make([]float32, n), make([]float64, n)
		for i := range w {
			w[i] = float32(rng.NormFloat64())
			want[i] = float64(w[i])
		}
		examples := draw(rng, 30, n, 4)
		sum, part, weight := make([]float32, n), make([]float32, n), 0.0
		wide := loss.Range{Min: -50, Max: 50}
		for _, shard := range [][]example{examples[:10], examples[10:]} {
			g := NewGradient(c.Loss, n)
			g.Range = wide
			g.Begin(w)
			for _, e := range shard {
				g.Learn(e.fs, &e.ex)
			}
			g.Store(part)
			for i, v := range part {
				sum[i] += v
			}
			weight += g.Weight()
		}
		c.Descend(sum, w, weight, 7)
		c.dense(want, nil, examples, c.RateAt(7), wide)
		for i := range sum {
			if math.Abs(float64(sum[i])-want[i]) > 1e-5 {
				t.Errorf("%s: weight %d: got %v, want %v", name, i, sum[i], want[i])
			}
		}
	}
}

// loop trains replicas on their shards with rounds of K steps on average, and returns the distance of the common
// weights from the optimum of all shards.
func loop(t *testing.T, shards [][]example, optimum []float64, vary bool) float64 {
	t.Helper()
	const p, rate = 0.1, 0.02
	n := len(optimum)
	c := Config{Loss: lossOf(t, "squared"), Rate: rate, L2: 0.1, Batch: len(shards[0]), ConstantRate: true}
	common := make([]float32, n)
	ws, hs, ls := make([][]float32, len(shards)), make([][]float32, len(shards)), make([]*Learner, len(shards))
	for i := range shards {
		ws[i], hs[i] = make([]float32, n), make([]float32, n)
		l, err := New(c, ws[i])
		if err != nil {
			t.Fatal(err)
		}
		l.Range = loss.Range{Min: -1e6, Max: 1e6}
		ls[i] = l
	}
	rounds := Every{Random: p}.Rounds(3000, 1, 1, 0)
	at := 0
	for r := range rounds.N() {
		end := rounds.End(r, 3000)
		mean := make([]float32, n)
		for i, shard := range shards {
			copy(ws[i], common)
			var h []float32
			if vary {
				h = hs[i]
			}
			ls[i].Begin(ws[i], h, 0)
			for range end - at {
				for j := range shard { // the shard is one batch: exact gradients
					ls[i].Learn(shard[j].fs, &shard[j].ex)
				}
			}
			ls[i].End()
			for j, v := range ws[i] {
				mean[j] += v / float32(len(shards))
			}
		}
		for i := range shards {
			Vary(hs[i], hs[i], ws[i], mean, p/rate)
		}
		common, at = mean, end
	}
	d := 0.0
	for i, v := range common {
		d += (float64(v) - optimum[i]) * (float64(v) - optimum[i])
	}
	return math.Sqrt(d)
}

// Replicas with different data converge to the optimum of all data with control variates, and not without them.
func TestControlVariatesRemoveTheDrift(t *testing.T) {
	const n = 4
	rng := rand.New(rand.NewPCG(9, 9))
	shards := make([][]example, 3)
	for i := range shards {
		shards[i] = draw(rng, 12, n, 3)
		for j := range shards[i] {
			shards[i][j].ex.Label += float32(3 * i) // the shards have different optima
		}
	}
	// The optimum, by the definition of a step over all data.
	c := Config{Loss: lossOf(t, "squared"), Rate: 1, L2: 0.1, Batch: 36}
	var all []example
	for _, s := range shards {
		all = append(all, s...)
	}
	optimum := make([]float64, n)
	for range 4000 {
		c.dense(optimum, nil, all, 0.05, loss.Range{Min: -1e6, Max: 1e6})
	}
	without, with := loop(t, shards, optimum, false), loop(t, shards, optimum, true)
	if !(with < 1e-3 && without > 20*with) {
		t.Errorf("distance from the optimum: %v with control variates, %v without", with, without)
	}
}
