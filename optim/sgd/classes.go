// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/oaa"
)

// Classes is K learners in one table, one against all.
//
// The classes share the learning rate, the time, the range and what is due to
// regularisation; the sums of the normalised rule are each class's own.
type Classes struct {
	*oaa.Learner
	Whole *Learner // the learner of the table of all classes

	tables []table
	sums   []ClassSums
}

// ClassSums are the sums of the normalised rule that a class keeps.
type ClassSums struct{ Nsx, TotalWeight float64 }

// NewClasses returns learners of k classes with weights of zero.
func NewClasses(cfg Config, l loss.Loss, k int) (*Classes, error) {
	if err := oaa.Check(k, cfg.Bits); err != nil {
		return nil, err
	}
	lr, err := New(cfg, l)
	if err != nil {
		return nil, err
	}
	c := &Classes{Whole: lr, sums: make([]ClassSums, k)}
	for range k {
		c.tables = append(c.tables, lr.t)
	}
	c.place()
	c.sums[0] = ClassSums{lr.nsx, lr.totalWeight} // the examples of InitialT, which vw counts for the first class only
	c.Learner = oaa.New((*classBase)(c), k, cfg.Bits, lr.Range, lr.fixed)
	return c, nil
}

// place lets the table of each class begin at its first weight.
func (c *Classes) place() {
	whole := &c.Whole.t
	for i := range c.tables {
		t := &c.tables[i]
		t.from = uint32(i)
		t.w = whole.w[i*c.Whole.Stride():]
		if t.cells != nil {
			t.cells = whole.cells[i:]
		}
	}
}

// Use makes w the weights of all classes, as Learner.Use does.
func (c *Classes) Use(w []float32) {
	c.Whole.Use(w)
	c.place()
}

// Sums returns the sums of each class. The caller may set them when a model is
// loaded.
func (c *Classes) Sums() []ClassSums { return c.sums }

// classBase implements oaa.Base with Classes.
type classBase Classes

var _ oaa.Base = (*classBase)(nil)

func (c *classBase) SetRange(r loss.Range) { c.Whole.Range = r }

func (c *classBase) Scores(scores []float32, fs []feature.Feature, initial float32) {
	l := c.Whole
	for i := range scores {
		scores[i] = initial
	}
	switch {
	case l.cfg.L1 != 0:
		for i := range scores {
			scores[i] = l.rule.dot(&c.tables[i], fs, scores[i], float32(l.gravity))
		}
	case l.t.cells == nil:
		dots1(scores, l.t.w, fs)
	default:
		dots4(scores, l.t.cells, fs)
	}
	contraction := float32(l.contraction)
	for i := range scores {
		scores[i] *= contraction
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

// Update changes nothing for an example with a weight of 0 or below; vw takes a negative weight
// as 0 here.
func (c *classBase) Update(class int, fs []feature.Feature, ex *feature.Example, score float32) {
	l := c.Whole
	if ex.Weight <= 0 {
		return
	}
	gap := l.loss.Loss(l.Range, score, ex.Label)
	if gap <= 0 && l.cfg.SparseL2 == 0 {
		return
	}
	all, sum := l.t, &c.sums[class]
	l.t, l.nsx, l.totalWeight = c.tables[class], sum.Nsx, sum.TotalWeight
	l.hidden = ex.HiddenSquares
	l.update(fs, score, ex.Label, ex.Weight, gap)
	sum.Nsx, sum.TotalWeight = l.nsx, l.totalWeight
	l.t = all
}

func (c *classBase) Learn(class int, fs []feature.Feature, ex *feature.Example) {
	l := c.Whole
	raw := l.rule.dot(&c.tables[class], fs, ex.Initial, float32(l.gravity)) * float32(l.contraction)
	c.Update(class, fs, ex, l.Range.Clip(raw))
}

func (c *classBase) End(ex *feature.Example) {
	if ex.Weight > 0 {
		c.Whole.time += float64(ex.Weight)
	}
}
