// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/gvw-project/gvw/feature"
)

// merge merges all replicas. The parts of the table are merged at the same time if together is set.
func merge(r *Replicas, together bool) {
	var parts sync.WaitGroup
	for i := range r.Learners {
		r.Split(i)
	}
	r.Total()
	for part := range r.Learners {
		parts.Go(func() { r.Merge(part) })
		if !together {
			parts.Wait()
		}
	}
	parts.Wait()
	for i := range r.Learners {
		r.Sync(i)
	}
}

// replicate lets n replicas of a learner of rule cfg learn from blocks of examples in turns, with a merge after each round.
func replicate(t *testing.T, cfg Config, n int, b *feature.Batch, together bool) *Replicas {
	t.Helper()
	const block = 7
	r := NewReplicas(learner(t, cfg, "logistic"), n)
	r.Begin()
	for i := range n {
		r.Copy(i)
	}
	for i := range n {
		r.Unmark(i)
	}
	for at := 0; at < len(b.Examples); {
		for _, l := range r.Learners {
			to := min(at+block, len(b.Examples))
			learn(l, b, at, to)
			at = to
		}
		merge(r, together)
	}
	return r
}

// mergeable returns the rules that replicas can have.
func mergeable() map[string]Config {
	m := rules()
	for name, cfg := range m {
		if !cfg.Mergeable() {
			delete(m, name)
		}
	}
	return m
}

// After a merge all replicas have the same finite state, with all rates at 0. It does not depend on whether the parts are
// merged at the same time.
func TestReplicasAreEqualAfterAMerge(t *testing.T) {
	if len(mergeable()) < 3 {
		t.Fatal("too few rules can be merged")
	}
	for name, cfg := range mergeable() {
		for _, bits := range []uint{3, 14} { // a table that all examples fill, and a sparse one
			cfg.Bits = bits
			b := batch(200, 10, bits)
			r := replicate(t, cfg, 3, b, true)
			again := replicate(t, cfg, 3, b, false)
			if !slices.Equal(r.whole.Weights(), again.whole.Weights()) {
				t.Errorf("%s, %d bits: two runs differ", name, bits)
			}
			for i, l := range r.Learners {
				if !slices.Equal(l.Weights(), r.whole.Weights()) {
					t.Errorf("%s, %d bits: replica %d has other weights", name, bits, i)
				}
				if got, want := l.Scalars(), r.whole.Scalars(); got != want {
					t.Errorf("%s, %d bits: replica %d has the sums %+v, want %+v", name, bits, i, got, want)
				}
			}
			moved := 0
			for _, c := range r.whole.t.cells {
				if c[r.whole.t.rate] != 0 || slices.ContainsFunc(c[:], func(v float32) bool { return !finite(v) }) {
					t.Fatalf("%s, %d bits: got the weight %v", name, bits, c)
				}
				if c[weight] != 0 {
					moved++
				}
			}
			if moved == 0 {
				t.Errorf("%s, %d bits: nothing was learned", name, bits)
			}
		}
	}
}

// A replica whose examples no other replica shares a feature with learns as by itself.
func TestReplicasWithoutCommonFeatures(t *testing.T) {
	const n, bits = 3, 10
	cfg := Flags{Bits: bits, Adaptive: true}.Config()
	b := batch(300, 10, bits)
	for i := range b.Examples {
		ex := &b.Examples[i]
		for k := range b.FeaturesOf(ex) {
			f := &b.FeaturesOf(ex)[k]
			f.Index = f.Index/4*4 + uint32(i/7%n)
		}
	}
	want := make([]float32, len(learner(t, cfg, "logistic").Weights()))
	for i := range n {
		l := learner(t, cfg, "logistic")
		for at := 7 * i; at < len(b.Examples); at += 7 * n {
			learn(l, b, at, min(at+7, len(b.Examples)))
		}
		for k := range l.t.cells {
			l.t.cells[k][l.t.rate] = 0
		}
		for k, w := range l.Weights() {
			want[k] += w
		}
	}
	if got := replicate(t, cfg, n, b, true).whole.Weights(); !slices.Equal(got, want) {
		t.Error("the weights differ from those of learners by themselves")
	}
}

// Replicas with the same examples: the shared change counts overlap times, less what the larger G takes from the rate.
func TestReplicasWithTheSameExamples(t *testing.T) {
	const n = 4
	cfg := Flags{Bits: 4, Adaptive: true}.Config()
	r := NewReplicas(learner(t, cfg, "squared"), n)
	r.Begin()
	fs, ex := []feature.Feature{{Index: 5, Value: 1}}, &feature.Example{Label: 1, Weight: 1}
	for _, l := range r.Learners {
		l.Learn(fs, ex)
	}
	one := r.Learners[0].t.cells[5]
	merge(r, true)
	got := r.whole.t.cells[5]
	if want := n * one[adaptive]; got[adaptive] != want {
		t.Errorf("got G %v, want %v", got[adaptive], want)
	}
	if want := float64(one[weight]) * overlap / math.Sqrt(n); math.Abs(float64(got[weight])-want) > 1e-6*want {
		t.Errorf("got the weight %v, want %v", got[weight], want)
	}
	if got, want := r.whole.Scalars().T, float64(n); got != want {
		t.Errorf("got T %v, want %v", got, want)
	}
}
