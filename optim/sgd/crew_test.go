// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
)

// Learners whose examples share no features learn as if each had a table of its own.
func TestCrewWithoutCommonFeatures(t *testing.T) {
	const learners, bits = 3, 8
	cfg := Flags{Bits: bits, Adaptive: true}.Config()
	squared, err := loss.New("squared")
	if err != nil {
		t.Fatal(err)
	}
	learner := func() *Learner {
		l, err := New(cfg, squared)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	type example struct {
		fs    []feature.Feature
		label float32
	}
	r := rand.New(rand.NewPCG(1, 2))
	var data [learners][]example
	for i := range data {
		for range 500 {
			ex := example{label: float32(r.NormFloat64())}
			for range 1 + r.IntN(5) {
				ex.fs = append(ex.fs, feature.Feature{Index: uint32(learners*r.IntN(50) + i), Value: float32(r.NormFloat64())})
			}
			data[i] = append(data[i], ex)
		}
	}
	learn := func(l *Learner, examples []example) {
		for _, ex := range examples {
			l.Learn(ex.fs, &feature.Example{Label: ex.label, Weight: 1})
		}
	}
	want := make([]float32, len(learner().Weights()))
	for _, examples := range data {
		alone := learner()
		alone.Range = loss.Range{Min: -4, Max: 4}
		learn(alone, examples)
		for i, w := range alone.Weights() {
			want[i] += w
		}
	}
	whole := learner()
	whole.Range = loss.Range{Min: -4, Max: 4}
	crew := NewCrew(whole, learners)
	var all sync.WaitGroup
	for i, l := range crew.Learners {
		all.Go(func() {
			for examples := range slices.Chunk(data[i], 7) {
				learn(l, examples)
				crew.Sync(i)
			}
		})
	}
	all.Wait()
	if got := whole.Weights(); !slices.Equal(got, want) {
		t.Error("the weights differ from those of learners by themselves")
	}
	if got, want := whole.Scalars().T, float64(learners*500); got != want {
		t.Errorf("T is %v, want the weight of all examples, %v", got, want)
	}
}

// A learner continues with the sums of the others.
func TestCrewSync(t *testing.T) {
	squared, err := loss.New("squared")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := New(Flags{Bits: 4}.Config(), squared)
	if err != nil {
		t.Fatal(err)
	}
	crew := NewCrew(whole, 2)
	a, b := crew.Learners[0], crew.Learners[1]
	ex := &feature.Example{Label: 1, Weight: 2}
	a.Learn([]feature.Feature{{Index: 1, Value: 2}}, ex)
	b.Learn([]feature.Feature{{Index: 2, Value: 3}}, ex)
	crew.Sync(0)
	crew.Sync(1)
	crew.Sync(0)
	if got, want := a.Scalars().TotalWeight, 4+whole.cfg.fakeWeight(); got != want {
		t.Errorf("got a weight of %v, want %v", got, want)
	}
	for i, l := range crew.Learners {
		if got, want := l.Scalars().Nsx, whole.Scalars().Nsx; got != want {
			t.Errorf("learner %d: got sums of %v, want those of the crew, %v", i, got, want)
		}
	}
}
