// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/oaa"
)

// Classes is K learners in one table, one against all.
type Classes struct {
	*oaa.Learner
	group
}

// NewClasses returns learners of k classes with weights of zero.
func NewClasses(cfg Config, l loss.Loss, k int) (*Classes, error) {
	if err := oaa.Check(k, cfg.Bits); err != nil {
		return nil, err
	}
	g, err := newGroup(cfg, l, k)
	if err != nil {
		return nil, err
	}
	c := &Classes{group: g}
	c.Learner = oaa.New((*classBase)(c), k, cfg.Bits, g.Whole.Range, g.Whole.fixed)
	return c, nil
}

// Reader returns learners with the same weights, for predictions in another goroutine. Neither
// may learn as long as a reader predicts.
func (c *Classes) Reader() *Classes {
	r := &Classes{group: c.group}
	r.Whole = c.Whole.Reader()
	r.Learner = oaa.New((*classBase)(r), len(c.tables), c.Whole.cfg.Bits, c.Range, c.Fixed)
	return r
}

// classBase implements oaa.Base with Classes.
type classBase Classes

var _ oaa.Base = (*classBase)(nil)

func (c *classBase) SetRange(r loss.Range) { c.Whole.Range = r }

func (c *classBase) Scores(scores []float32, fs []feature.Feature, initial float32) {
	c.scores(scores, fs, initial)
}

// scores sets the raw score of each of the first learners.
func (g *group) scores(scores []float32, fs []feature.Feature, initial float32) {
	l := g.Whole
	switch {
	case l.cfg.L1 != 0:
		for i := range scores {
			scores[i] = l.rule.dot(&g.tables[i], fs, &l.ahead, initial, float32(l.gravity))
		}
	case l.t.cells == nil:
		dots1(scores, l.t.w, fs, initial)
	default:
		dots4(scores, l.t.cells, fs, initial)
	}
	contraction := float32(l.contraction)
	for i := range scores {
		scores[i] *= contraction
	}
}

// dots1 sets the score of each class to initial plus Σ w·x, summed in float32 in the order of the features.
func dots1(scores, w []float32, fs []feature.Feature, initial float32) {
	for i := range scores {
		scores[i] = initial
	}
	for _, f := range fs {
		row := w[f.Index:][:len(scores)]
		for i := range scores {
			scores[i] += float32(row[i] * f.Value)
		}
	}
}

// dotsEach is dots4 for one class after the other.
func dotsEach(scores []float32, cells [][4]float32, fs []feature.Feature, initial float32) {
	for i := range scores {
		scores[i] = initial
	}
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
	c.update(class, fs, ex, score)
}

func (c *classBase) Learn(class int, fs []feature.Feature, ex *feature.Example) {
	l := c.Whole
	raw := l.rule.dot(&c.tables[class], fs, &l.ahead, ex.Initial, float32(l.gravity)) * float32(l.contraction)
	c.Update(class, fs, ex, l.Range.Clip(raw))
}

func (c *classBase) End(ex *feature.Example) { c.end(ex) }
