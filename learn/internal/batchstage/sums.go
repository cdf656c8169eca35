// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim"
)

// summation computes the sums that a batch solver asks for, over this rank's examples in their
// order. The number of threads never changes a bit of them.
type summation struct {
	read      *examples.Reader
	tally     *tally.Tally
	semantics optim.Semantics

	sums  *optim.Sums
	req   optim.Request
	pass  int // of the solver, from 1
	n     int // examples of this pass so far
	place int // the same, with the empty lines between them

	// Sums over examples accumulate here, in float64, before they become the
	// float32 that ranks exchange.
	gradient, diagonal []float64

	first   *appeared // of the weights in the order of their first appearance, in a first pass that numbers them
	start   []float32 // where such a pass begins: all weights by their indices
	numbers *numbers  // of the weights in the vectors; nil: they are the indices
	inPlace bool      // the examples in memory have numbers instead of indices
	joined  bool      // the batches in memory are large

	// Buffers for the examples of one batch.
	view     feature.Batch     // the batch with numbers instead of indices
	features []feature.Feature // memory for its features
	examples []feature.Example // with the weights of their classes
	weighted []feature.Example // room for those
	terms    []term
	spare    []term    // terms of the batch before, while they are added to the vectors
	trials   []float32 // losses of the examples at the steps of a Trial request

	matrix    crossing   // of the features of a request
	quadratic *quadratic // collects the second derivatives of a pass; nil: they are not kept
	collects  bool       // the current pass is collected

	busy       time.Duration  // time of this pass outside the reader
	scattering sync.WaitGroup // adds the last batch in memory to the vectors; batch and readAll wait for it
}

// counts reports whether a pass of the kind counts its examples as seen. The passes between a
// gradient and its step do not: they are over the same weights, or over weights that are only
// tried.
func counts(kind optim.Kind) bool { return kind <= optim.Curvature }

// begin clears the sums for a pass.
func (a *summation) begin(req optim.Request, sums *optim.Sums, pass int) {
	a.req, a.sums, a.pass, a.n, a.place, a.busy = req, sums, pass, 0, 0, 0
	if a.first != nil { // the vectors grow as weights appear
		a.start, req.X = req.X, nil
		a.req.X = nil
	}
	sums.Loss, sums.Weight, sums.Curvature = 0, 0, 0
	sums.Trials = sums.Trials[:0]
	for range req.Steps {
		sums.Trials = append(sums.Trials, 0)
	}
	if a.collects = a.quadratic != nil && (counts(req.Kind) || req.Kind == optim.Local); a.collects {
		a.quadratic.begin(req.Round, len(req.X))
	}
	switch req.Kind {
	case optim.First, optim.Gradient, optim.Product:
		a.gradient = zeroed(a.gradient, len(req.X))
	}
	if req.Features != nil {
		a.matrix.begin(req.Features, len(req.X))
	}
	if req.Kind == optim.First && !a.collects {
		a.diagonal = zeroed(a.diagonal, len(req.X))
	}
}

// squares returns where the diagonal of the Hessian is added up, nil if the pass has none.
func (a *summation) squares() []float64 {
	switch {
	case a.collects:
		return a.quadratic.diagonal
	case a.req.Kind == optim.First:
		return a.diagonal
	}
	return nil
}

// readAll adds the examples of this rank's shard.
func (a *summation) readAll(ctx context.Context) error {
	defer a.scattering.Wait()
	return a.read.Batches(ctx, a.batch)
}

// batch adds a batch of examples in three sweeps:
//
//  1. Each example is evaluated by itself. Threads share the examples.
//  2. The scalars and the table follow in the order of the examples, in one thread.
//  3. The vectors are added up in the order of the examples. One thread adds up the gradient,
//     another one the diagonal of the Hessian. For a large batch in memory they do so beside the
//     first sweep of the next batch.
func (a *summation) batch(b *feature.Batch) error {
	begun := time.Now()
	defer func() { a.busy += time.Since(begun) }()
	t := a.tally
	read := b // has the indices, which the tally shows
	b = a.translate(b)
	a.examples = a.read.Within(b.Examples, a.place)
	if len(t.ClassWeights) > 0 {
		a.reweigh()
	}
	a.terms = slices.Grow(a.terms[:0], len(a.examples))[:len(a.examples)]
	a.trials = slices.Grow(a.trials[:0], len(a.examples)*len(a.req.Steps))[:len(a.examples)*len(a.req.Steps)]
	// While the range of predictions follows the labels, each prediction depends on the labels
	// before it, and the first sweep cannot run ahead.
	ordered := t.Passes == 0 && !t.Fixed
	if !ordered {
		share(len(a.examples), a.threads(len(b.Features)), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				a.evaluate(b, i)
			}
		})
	}
	for i := range a.examples {
		a.n++
		ex, term := &a.examples[i], &a.terms[i]
		a.place += int(ex.Before) + 1
		held := a.read.Holdout.Holds(a.place)
		if !counts(a.req.Kind) {
			if held || !ex.Labeled() || !(ex.Weight > 0) {
				term.first, term.second = 0, 0
			} else {
				a.again(b, i)
			}
			continue
		}
		t.Calls.Count(ex, t.Learns(held))
		shown := t.Seen
		if t.Passes == 0 {
			t.Observe(ex, held)
		}
		if ordered {
			a.evaluate(b, i)
		}
		if held || !ex.Labeled() || !(ex.Weight > 0) {
			term.first, term.second = 0, 0
		} else if a.add(ex, term); !optim.Finite(a.sums.Loss + a.sums.Curvature) {
			return a.diverged(b, ex, term.raw, term.loss)
		} else if a.collects {
			a.quadratic.add(b, ex, a.place, term.second)
		}
		t.Spared = tally.SparedWeight(&read.Examples[i], ex)
		p := term.p
		if ordered && a.semantics == optim.VW9 && !t.Binary {
			p = shown.Clip(term.raw) // vw shows its prediction before it looks at the label
		}
		if err := t.Account(read, ex, held, term.raw, p, term.loss); err != nil {
			return err
		}
	}
	if a.req.Kind == optim.Curvature || a.req.Kind == optim.Trial {
		return nil
	}
	if n := len(a.req.Features); n > 0 {
		share(n, a.threads(len(b.Features)), func(lo, hi int) { a.cross(b, lo, hi) })
	}
	if a.req.Kind == optim.Matrix {
		return nil
	}
	a.addVectors(b, b == read && len(t.ClassWeights) == 0)
	return nil
}

// reweigh multiplies the weights of the current examples by those of their classes. The batch stays as it is.
func (a *summation) reweigh() {
	a.weighted = append(a.weighted[:0], a.examples...)
	place := a.place
	for i := range a.weighted {
		ex := &a.weighted[i]
		if place += int(ex.Before) + 1; a.tally.Learns(a.read.Holdout.Holds(place)) {
			a.tally.ClassWeights.Reweigh(ex)
		}
	}
	a.examples = a.weighted
}

// addVectors makes the third sweep of a batch. stays reports whether the batch and its examples stay in memory, so that
// the sweep may run beside the first one of the next batch.
func (a *summation) addVectors(b *feature.Batch, stays bool) {
	c := contributions{batch: b, examples: a.examples, terms: a.terms}
	parallel := a.threads(len(b.Features)) > 1
	a.scattering.Wait() // the batch before is added to the same vectors
	if !parallel || !a.joined || !stays {
		a.scatter(c, parallel) // the next batch needs the memory of the features or the examples, or makes the vectors grow
		return
	}
	a.terms, a.spare = a.spare, a.terms
	a.scattering.Go(func() { a.scatter(c, parallel) })
}

// contributions are the examples of a batch with what each of them adds to the vectors.
type contributions struct {
	batch    *feature.Batch
	examples []feature.Example
	terms    []term
}

// again adds what a pass over weights that have been counted adds of example i.
func (a *summation) again(b *feature.Batch, i int) {
	ex, term := &a.examples[i], &a.terms[i]
	if a.collects {
		a.quadratic.add(b, ex, a.place, term.second)
	}
	steps := len(a.req.Steps)
	for k, l := range a.trials[i*steps : (i+1)*steps] {
		a.sums.Trials[k] += float64(float64(ex.Weight) * float64(l))
	}
}

// term is the contribution of one example.
type term struct {
	raw, p, loss  float32
	first, second float32 // first and second derivative of the loss, times importance
	along         float64 // scalar product of the direction and the example
}

// evaluate computes the term of example i.
func (a *summation) evaluate(b *feature.Batch, i int) {
	ex, t := &a.examples[i], &a.terms[i]
	seen, l := a.tally.Seen, a.tally.Loss
	fs := b.FeaturesOf(ex)
	raw := ex.Initial + float32(dot(a.req.X, fs))
	*t = term{raw: raw, p: seen.Clip(raw)}
	if !ex.Labeled() {
		return
	}
	switch a.req.Kind {
	case optim.Trial:
		along := dot(a.req.Dir, fs)
		for k, step := range a.req.Steps {
			p := seen.Clip(float32(float64(raw) + float64(step*along)))
			a.trials[i*len(a.req.Steps)+k] = l.Loss(seen, p, ex.Label)
		}
		return
	case optim.Product:
		t.first = l.Second(seen, t.p, ex.Label) * ex.Weight * float32(dot(a.req.Dir, fs))
		return
	case optim.Local, optim.Matrix:
		t.second = l.Second(seen, t.p, ex.Label) * ex.Weight
		return
	}
	t.loss = l.Loss(seen, t.p, ex.Label)
	if a.req.Kind == optim.Curvature {
		t.second = l.Second(seen, t.p, ex.Label)
		t.along = dot(a.req.Dir, fs)
		if a.semantics == optim.VW9 {
			t.along += float64(ex.Initial) // vw 9 adds it here, too
		}
		return
	}
	// float32 as vw has them: their product with a value is then exact in
	// float64, and no fused multiply-add can change the sum.
	t.first = l.First(seen, t.p, ex.Label) * ex.Weight
	if a.req.Kind == optim.First || a.collects || a.req.Features != nil {
		t.second = l.Second(seen, t.p, ex.Label) * ex.Weight
	}
}

// add adds the scalars of an example. The conversions prevent fused multiply-adds, which would
// make the bits depend on the processor.
func (a *summation) add(ex *feature.Example, t *term) {
	w := float64(ex.Weight)
	if a.req.Kind == optim.Curvature {
		a.sums.Curvature += float64(w * float64(t.second) * t.along * t.along)
		return
	}
	a.sums.Loss += float64(w * float64(t.loss))
	a.sums.Weight += w
}

// scatter adds the contributions to the gradient and to the diagonal, side by side if
// parallel is true. Each is a plain loop over all features in one thread. Threads that share the
// weights are slower: each of them must read every feature, and the processor cannot predict
// whether the feature is one of the thread's.
func (a *summation) scatter(c contributions, parallel bool) {
	h, threads := a.squares(), 1
	if parallel && h != nil && a.req.Kind != optim.Local {
		threads = 2
	}
	share(2, threads, func(lo, hi int) {
		if lo == 0 && a.req.Kind != optim.Local {
			c.addFirst(a.gradient)
		}
		if hi == 2 && h != nil {
			c.addSquares(h)
		}
	})
}

// addFirst adds the first derivatives times the features to g.
func (c *contributions) addFirst(g []float64) {
	for i := range c.examples {
		first := float64(c.terms[i].first)
		for _, f := range c.batch.FeaturesOf(&c.examples[i]) {
			g[f.Index] += first * float64(f.Value)
		}
	}
}

// addSquares adds the second derivatives times the squares of the features to h.
func (c *contributions) addSquares(h []float64) {
	for i := range c.examples {
		second := float64(c.terms[i].second)
		for _, f := range c.batch.FeaturesOf(&c.examples[i]) {
			h[f.Index] += second * float64(f.Value*f.Value)
		}
	}
}

// Work for several threads: below Serial features a start costs more than it
// saves, and beyond maxThreads each would mostly skip what others own, in a matrix.
const (
	Serial     = 1 << 14
	maxThreads = 8
)

// joinedFeatures is the least number of features of a batch in memory: threads begin and end together some times for
// each batch, and a thread takes up to 0.1 ms to begin.
const joinedFeatures = 1 << 18

// threads returns the number of threads for a batch with so many features.
func (a *summation) threads(features int) int {
	if features < Serial {
		return 1
	}
	return min(runtime.GOMAXPROCS(0), maxThreads)
}

// share calls f for parts [lo, hi) of n, each in a goroutine of its own except the last, and
// returns when all have ended.
func share(n, threads int, f func(lo, hi int)) {
	var wg sync.WaitGroup
	for k := range threads - 1 {
		wg.Go(func() { f(n*k/threads, n*(k+1)/threads) })
	}
	f(n*(threads-1)/threads, n)
	wg.Wait()
}

// end rounds the sums to the float32 that ranks exchange.
func (a *summation) end() error {
	if a.collects {
		a.quadratic.end()
	}
	if a.first != nil {
		n := len(a.first.indices)
		a.sums.Gradient, a.sums.Diagonal = make([]float32, n), make([]float32, n)
	}
	if a.req.Features != nil {
		a.sums.Matrix = a.matrix.appendTriangle(a.sums.Matrix[:0])
	}
	switch a.req.Kind {
	case optim.Curvature, optim.Local, optim.Matrix:
		return nil
	case optim.Trial:
		for k := range a.sums.Trials {
			a.sums.Trials[k] *= loss.Integral(a.tally.Loss)
		}
		return nil
	case optim.Product:
		return a.narrow("product with the Hessian", a.sums.Gradient, a.gradient)
	}
	if a.semantics != optim.VW9 { // vw 9 reports the loss without this factor
		a.sums.Loss *= loss.Integral(a.tally.Loss)
	}
	if err := a.narrow("gradient", a.sums.Gradient, a.gradient); err != nil {
		return err
	}
	if a.req.Kind != optim.First {
		return nil
	}
	err := a.narrow("diagonal of the Hessian", a.sums.Diagonal, a.squares())
	a.diagonal = nil
	return err
}

// narrow rounds a sum to float32. A value that overflows is an error.
func (a *summation) narrow(what string, dst []float32, src []float64) error {
	if a.numbers != nil {
		src[len(src)-1] = 0 // of features without a number
	}
	var wild float32
	for i, v := range src {
		dst[i] = float32(v)
		wild += dst[i] - dst[i] // NaN from the first infinity on
	}
	if wild == 0 {
		return nil
	}
	for i, v := range dst {
		if v-v != 0 {
			return a.read.Divergence(&optim.DivergeError{Pass: a.pass, What: what, Weight: a.index(i), Value: float64(v)})
		}
	}
	panic("BUG: learn: a sum is not finite and has no such element")
}

// diverged returns an error that names the example at which a sum became infinite or NaN.
func (a *summation) diverged(b *feature.Batch, ex *feature.Example, raw, l float32) error {
	tag := ""
	if t := b.TagOf(ex); len(t) > 0 {
		tag = fmt.Sprintf(" (tag %s)", t)
	}
	what := fmt.Sprintf("its loss is %v", l)
	if a.req.Kind == optim.Curvature {
		what = fmt.Sprintf("the curvature with it is %v", a.sums.Curvature)
	} else if v := float64(l); optim.Finite(v) {
		what = fmt.Sprintf("the sum of the losses is %v", a.sums.Loss)
	}
	return &examples.DataError{Name: a.read.Name, Text: fmt.Sprintf(
		"pass %d, example %d%s: %s (prediction %v, label %v, importance %v): the run diverged; look for values out of range in the example, and for weights out of range in the model it starts from",
		a.pass, a.n, tag, what, raw, ex.Label, ex.Weight)}
}

// dot returns Σ w·x in float64. Each product of two float32 is exact there.
func dot(w []float32, fs []feature.Feature) float64 {
	var sum float64
	for _, f := range fs {
		sum += float64(w[f.Index]) * float64(f.Value)
	}
	return sum
}

// zeroed returns n zeros, in the memory of v if it has that length.
func zeroed(v []float64, n int) []float64 {
	if len(v) != n {
		return make([]float64, n)
	}
	clear(v)
	return v
}
