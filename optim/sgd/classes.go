// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"fmt"
	"math/bits"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/merand"
	"github.com/gvw-project/gvw/loss"
)

// Classes is K learners in one table, one against all: each learns to tell its
// class, label 1, from all others, label -1. The weights of a feature lie side
// by side, one for each class, so that one pass over an example's features
// predicts all classes.
//
// The table has Config.Bits bits for all of them: with the width w, K rounded up
// to a power of two, the feature with index i has the weights i·w to i·w+K-1,
// modulo the table's size, as in vw.
//
// The classes share the learning rate, the time, the range and what is due to
// regularisation; the sums of the normalised rule are each class's own. The
// embedded Learner is for what concerns the whole table.
type Classes struct {
	*Learner

	k      int
	shift  int    // log2 of the width
	mask   uint32 // of the table
	tables []table
	sums   []ClassSums

	scaled []feature.Feature // the example's features, by their first weight
	scores []float32
	wild   int     // see Wild
	sample *sample // nil: every example is learned by every class
}

// ClassSums are the sums of the normalised rule that a class keeps.
type ClassSums struct{ Nsx, TotalWeight float64 }

// NewClasses returns learners of k classes with weights of zero.
func NewClasses(cfg Config, l loss.Loss, k int) (*Classes, error) {
	if k < 1 || cfg.Bits < 32 && k > 1<<cfg.Bits {
		return nil, fmt.Errorf("sgd: %d classes: want 1 to the 2^%d weights", k, cfg.Bits)
	}
	lr, err := New(cfg, l)
	if err != nil {
		return nil, err
	}
	c := &Classes{
		Learner: lr, k: k,
		shift:  bits.Len(uint(k - 1)),
		mask:   uint32(1<<cfg.Bits - 1),
		sums:   make([]ClassSums, k),
		scores: make([]float32, k),
	}
	for range k {
		c.tables = append(c.tables, lr.t)
	}
	c.place()
	c.sums[0] = ClassSums{lr.nsx, lr.totalWeight} // what InitialT stands for: vw gives it to the first class only
	return c, nil
}

// place lets the table of each class begin at its first weight.
func (c *Classes) place() {
	for i := range c.tables {
		t := &c.tables[i]
		t.from = uint32(i)
		t.w = c.t.w[i*c.cfg.Stride():]
		if t.cells != nil {
			t.cells = c.t.cells[i:]
		}
	}
}

// Use makes w the weights of all classes, as Learner.Use does.
func (c *Classes) Use(w []float32) {
	c.Learner.Use(w)
	c.place()
}

// Sums are the sums of each class. The caller may set them when a model is
// loaded.
func (c *Classes) Sums() []ClassSums { return c.sums }

// Predict returns the score of each class, limited to the range. The slice is
// the learner's, until the next call.
func (c *Classes) Predict(fs []feature.Feature, initial float32) []float32 {
	c.scale(fs)
	for i := range c.scores {
		c.scores[i] = initial
	}
	switch {
	case c.cfg.L1 != 0:
		for i := range c.scores {
			c.scores[i] = c.rule.dot(&c.tables[i], c.scaled, c.scores[i], float32(c.gravity))
		}
	case c.t.cells == nil:
		dots1(c.scores, c.t.w, c.scaled)
	default:
		dots4(c.scores, c.t.cells, c.scaled)
	}
	contraction := float32(c.contraction)
	c.wild = -1
	for i, p := range c.scores {
		p *= contraction
		if p-p != 0 && c.wild < 0 { // infinite, or not a number
			c.wild = i
		}
		c.scores[i] = c.Range.Clip(p)
	}
	return c.scores
}

// Wild is the first class whose score in the last prediction was no finite number
// before it was limited to the range; -1 if there is none.
func (c *Classes) Wild() int { return c.wild }

// scale notes where the weights of each feature begin.
func (c *Classes) scale(fs []feature.Feature) {
	c.scaled = c.scaled[:0]
	for _, f := range fs {
		c.scaled = append(c.scaled, feature.Feature{Index: f.Index << c.shift & c.mask, Value: f.Value})
	}
}

// dots1 adds Σ w·x to the score of every class, feature by feature.
func dots1(scores, w []float32, fs []feature.Feature) {
	for _, f := range fs {
		row := w[f.Index:][:len(scores)]
		for i := range scores {
			scores[i] += float32(row[i] * f.Value)
		}
	}
}

// dots4 is dots1 for weights of four floats.
func dots4(scores []float32, cells [][4]float32, fs []feature.Feature) {
	for _, f := range fs {
		row := cells[f.Index:][:len(scores)]
		for i := range scores {
			scores[i] += float32(row[i][weight] * f.Value)
		}
	}
}

// Learn predicts the example, then lets every class learn whether it is its own.
// class is the right one, from 0; a number that is no class's: none is. The
// scores are those before the updates. An example of no weight, or of one below
// 0, changes nothing; vw takes the latter as 0 here.
func (c *Classes) Learn(fs []feature.Feature, ex *feature.Example, class int) []float32 {
	c.hidden = ex.HiddenSquares
	scores := c.Predict(fs, ex.Initial)
	if ex.Weight <= 0 {
		return scores
	}
	for i, p := range scores {
		c.teach(i, p, i == class, ex.Weight)
	}
	c.time += float64(ex.Weight)
	return scores
}

// teach updates one class, the features scaled, for the prediction p.
func (c *Classes) teach(class int, p float32, own bool, weight float32) {
	y := float32(-1)
	if own {
		y = 1
	}
	if !c.fixed {
		c.Range = c.Range.Include(y)
	}
	l := c.loss.Loss(c.Range, p, y)
	if l <= 0 && c.cfg.SparseL2 == 0 {
		return
	}
	all, sum := c.t, &c.sums[class]
	c.t, c.nsx, c.totalWeight = c.tables[class], sum.Nsx, sum.TotalWeight
	c.update(c.scaled, p, y, weight, l)
	sum.Nsx, sum.TotalWeight = c.nsx, c.totalWeight
	c.t = all
}

// sample is --oaa_subsample: which classes learn that an example is not theirs.
type sample struct {
	n     int
	order []int // a permutation of the classes, gone through again and again
	next  int
}

// Turn says whose turn it is among the classes that are sampled, for a copy that
// is to continue exactly as the original would; 0 without Subsample.
func (c *Classes) Turn() int {
	if c.sample == nil {
		return 0
	}
	return c.sample.next
}

// SetTurn puts back what Turn returned.
func (c *Classes) SetTurn(next int) error {
	if next < 0 || next >= c.k || c.sample == nil && next != 0 {
		return fmt.Errorf("sgd: turn %d of %d classes, which cannot be", next, c.k)
	}
	if c.sample != nil {
		c.sample.next = next
	}
	return nil
}

// Subsample lets only n of the classes that an example does not belong to learn
// from it, in turn, with its weight times K/n. n must be below the number of
// classes. It returns the state of the generator after drawing their order.
func (c *Classes) Subsample(n int, state merand.State) (merand.State, error) {
	if n < 1 || n >= c.k {
		return state, fmt.Errorf("sgd: a sample of %d classes: want 1 to %d, less than there are", n, c.k-1)
	}
	order := make([]int, c.k)
	for i := range order {
		order[i] = i
	}
	for i := range order {
		j := int(state.Float()*float32(c.k-i)) + i
		order[i], order[j] = order[j], order[i]
	}
	c.sample = &sample{n: n, order: order}
	return state, nil
}

// LearnSample is Learn with the right class and a sample of the others, each of
// which predicts anew before its own update, as vw does. Time stands still: to
// vw these examples have no label, and its t counts those that have one.
func (c *Classes) LearnSample(fs []feature.Feature, ex *feature.Example, class int) []float32 {
	c.hidden = ex.HiddenSquares
	scores := c.Predict(fs, ex.Initial)
	predict := func(i int) float32 {
		raw := c.rule.dot(&c.tables[i], c.scaled, ex.Initial, float32(c.gravity)) * float32(c.contraction)
		return c.Range.Clip(raw)
	}
	teach := func(i int, weight float32) {
		if ex.Weight > 0 {
			c.teach(i, predict(i), i == class, weight)
		}
	}
	if class >= 0 && class < c.k {
		teach(class, ex.Weight)
	}
	s := c.sample
	share := ex.Weight * (float32(c.k) / float32(s.n))
	for done := 0; done < s.n; { // the turns of an example without weight pass, too
		i := s.order[s.next]
		s.next = (s.next + 1) % c.k
		if i != class {
			teach(i, share)
			done++
		}
	}
	return scores
}
