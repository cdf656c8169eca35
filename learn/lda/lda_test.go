// SPDX-License-Identifier: Apache-2.0

package lda_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/lda"
)

// corpus returns documents of 40 words about one or two of three topics, each of which has 20 words of its own.
// The words from 60 on occur in no document.
func corpus(n int) [][]feature.Feature {
	rng := rand.New(rand.NewPCG(7, 8))
	docs := make([][]feature.Feature, n)
	for d := range docs {
		first, second := rng.IntN(3), rng.IntN(3)
		counts := map[uint32]float32{}
		for range 40 {
			topic := first
			if rng.IntN(4) == 0 {
				topic = second
			}
			counts[uint32(20*topic+rng.IntN(20))]++
		}
		for w := range uint32(60) {
			if counts[w] > 0 {
				docs[d] = append(docs[d], feature.Feature{Index: w, Value: counts[w]})
			}
		}
	}
	return docs
}

var config = lda.Config{Topics: 3, Words: 64, Documents: 200, PowerT: 0.7, InitialT: 1, LearningRate: 1, Eta: 0.01}

func learner(tb testing.TB, c lda.Config) *lda.Learner {
	tb.Helper()
	l, err := lda.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	l.Draw()
	return l
}

// train makes passes over the documents, in batches. each, unless nil, is called before every batch.
func train(tb testing.TB, l *lda.Learner, docs [][]feature.Feature, passes, batch int, each func()) (bound float64) {
	tb.Helper()
	for range passes {
		bound = 0
		for part := range slices.Chunk(docs, batch) {
			if each != nil {
				each()
			}
			for _, d := range part {
				if err := l.Add(d); err != nil {
					tb.Fatal(err)
				}
			}
			l.Step(true)
			for d := range l.Len() {
				bound += l.Bound(d) / l.Length(d) / float64(len(docs))
			}
		}
	}
	return bound
}

func TestFindsTopics(t *testing.T) {
	l := learner(t, config)
	docs := corpus(200)
	first := train(t, l, docs, 1, 16, nil)
	if last := train(t, l, docs, 20, 16, nil); last <= first {
		t.Errorf("the bound went from %v to %v, want a rise", first, last)
	}
	l.Materialize()
	w := l.Weights()
	owner := map[int]bool{}
	for block := range 3 { // each topic owns the words of one block
		sums := make([]float64, 3)
		for word := 20 * block; word < 20*(block+1); word++ {
			for k := range sums {
				sums[k] += float64(w[word*3+k])
			}
		}
		k := 0
		for i, s := range sums {
			if s > sums[k] {
				k = i
			}
		}
		if share := sums[k] / (sums[0] + sums[1] + sums[2]); share < 0.9 {
			t.Errorf("block %d: the largest topic has %.2f of its words, want 0.9", block, share)
		}
		owner[k] = true
	}
	if len(owner) != 3 {
		t.Errorf("three blocks of words belong to %d topics", len(owner))
	}
}

// A word that is absent for some batches decays by one factor when it occurs again.
func TestAbsentWordsDecayLater(t *testing.T) {
	lazy, eager := learner(t, config), learner(t, config)
	docs := corpus(120)
	train(t, lazy, docs, 2, 1, nil)
	train(t, eager, docs, 2, 1, eager.Materialize)
	lazy.Materialize()
	eager.Materialize()
	for i, got := range lazy.Weights() {
		if want := eager.Weights()[i]; math.Abs(float64(got-want)) > 1e-3*float64(want) {
			t.Fatalf("weight %d is %v, with updates of all words at each batch %v", i, got, want)
		}
	}
}

func TestFloat32IsAsGoodAsFloat64(t *testing.T) {
	c := config
	fast := train(t, learner(t, c), corpus(200), 5, 16, nil)
	c.Precise = true
	if precise := train(t, learner(t, c), corpus(200), 5, 16, nil); math.Abs(fast-precise) > 1e-4 {
		t.Errorf("the bound is %v in float32 and %v in float64", fast, precise)
	}
}

func TestLearnsAlpha(t *testing.T) {
	for _, start := range []float64{0.02, 0.5} {
		c := config
		c.Alpha, c.LearnAlpha = start, true
		docs := corpus(400)
		for d := range docs { // most documents are about the first topic
			if d%4 > 0 {
				for i := range docs[d] {
					docs[d][i].Index %= 20
				}
			}
		}
		fixed := c
		fixed.LearnAlpha = false
		want := train(t, learner(t, fixed), docs, 20, 400, nil)
		l := learner(t, c)
		if got := train(t, l, docs, 20, 400, nil); got <= want {
			t.Errorf("from %v: the bound is %v with learned priors, and %v without", start, got, want)
		}
		a := slices.Sorted(slices.Values(l.Alphas()))
		if !(a[0] > 0 && a[2] > 2*a[1] && a[1] < 1) {
			t.Errorf("from %v: the priors are %v, want one far above the others", start, a)
		}
		before := slices.Clone(l.Alphas())
		l.Step(false)
		if !slices.Equal(before, l.Alphas()) {
			t.Error("inference has changed the priors")
		}
	}
}

func TestInferChangesNothing(t *testing.T) {
	l := learner(t, config)
	docs := corpus(32)
	train(t, l, docs, 1, 16, nil)
	l.Materialize()
	before := slices.Clone(l.Weights())
	gamma := make([]float32, 3)
	bound, err := l.Infer(gamma, docs[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		if err := l.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	l.Step(false)
	if diff := cmp.Diff(l.Gamma(0), gamma); diff != "" || l.Bound(0) != bound {
		t.Errorf("in a batch γ differs (-batch +alone), or its bound %v from %v:\n%s", l.Bound(0), bound, diff)
	}
	l.Materialize()
	if !slices.Equal(before, l.Weights()) {
		t.Error("inference has changed the weights")
	}
}

func TestEmptyDocument(t *testing.T) {
	l := learner(t, config)
	if err := l.Add(nil); err != nil {
		t.Fatal(err)
	}
	l.Step(true)
	if diff := cmp.Diff([]float32{0.1, 0.1, 0.1}, l.Gamma(0)); diff != "" {
		t.Errorf("γ of an empty document (-want +got):\n%s", diff)
	}
}

func TestAddRefuses(t *testing.T) {
	l := learner(t, config)
	for _, f := range []feature.Feature{{Index: 1, Value: -1}, {Index: 1, Value: float32(math.NaN())}, {Index: 1, Value: float32(math.Inf(1))}, {Index: 64, Value: 1}} {
		if err := l.Add([]feature.Feature{{Index: 0, Value: 1}, f}); err == nil {
			t.Errorf("Add accepts word %d with count %v", f.Index, f.Value)
		}
	}
	if l.Len() != 0 {
		t.Errorf("%d documents were added", l.Len())
	}
}

func TestValidateReportsEveryFault(t *testing.T) {
	err := lda.Config{Topics: 0, Words: 0, Alpha: -1, Alphas: []float64{0}, Eta: math.NaN(), LearningRate: 2, Iterations: -1}.Validate()
	if err == nil {
		t.Fatal("no fault was found")
	}
	if n := len(err.(interface{ Unwrap() []error }).Unwrap()); n != 8 {
		t.Errorf("%d faults, want 8: %v", n, err)
	}
}

func TestNoAllocations(t *testing.T) {
	c := config
	c.LearnAlpha = true
	l := learner(t, c)
	docs := corpus(64)
	run := func() { train(t, l, docs, 1, 16, nil) }
	run()
	if n := testing.AllocsPerRun(10, run); n != 0 {
		t.Errorf("%v allocations in a pass over 64 documents", n)
	}
	gamma := make([]float32, 3)
	if n := testing.AllocsPerRun(10, func() { _, _ = l.Infer(gamma, docs[0]) }); n != 0 {
		t.Errorf("%v allocations to infer a document", n)
	}
}

func ExampleLearner() {
	l, err := lda.New(lda.Config{Topics: 2, Words: 4, Documents: 4, PowerT: 0.5, InitialT: 1})
	if err != nil {
		panic(err)
	}
	l.Draw()
	words := func(list ...uint32) (doc []feature.Feature) {
		for _, w := range list {
			doc = append(doc, feature.Feature{Index: w, Value: 3})
		}
		return doc
	}
	for range 50 {
		for _, doc := range [][]feature.Feature{words(0, 1), words(2, 3), words(0, 1), words(2, 3)} {
			if err := l.Add(doc); err != nil {
				panic(err)
			}
		}
		l.Step(true)
	}
	gamma := make([]float32, 2)
	for _, doc := range [][]feature.Feature{words(0), words(3)} {
		if _, err := l.Infer(gamma, doc); err != nil {
			panic(err)
		}
		fmt.Printf("%.1f\n", gamma)
	}
	// Output:
	// [3.1 0.1]
	// [0.1 3.1]
}

func BenchmarkPass(b *testing.B) {
	docs := corpus(1000)
	c := config
	c.Topics, c.Words = 20, 1<<14
	l := learner(b, c)
	train(b, l, docs, 2, 100, nil)
	for b.Loop() {
		train(b, l, docs, 1, 100, nil)
	}
	b.ReportMetric(float64(len(docs)*b.N)/b.Elapsed().Seconds(), "documents/s")
}
