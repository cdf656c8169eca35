// SPDX-License-Identifier: Apache-2.0

package ftrl

import (
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/oaa"
)

// Classes is K learners in one table, one against all. They share the range and, as in vw,
// Coin's sums: to these an example counts once for each class that learns from it.
type Classes struct {
	*oaa.Learner
	Whole *Learner // the learner of the table of all classes
}

// NewClasses returns learners of k classes with weights of zero.
func NewClasses(cfg Config, l loss.Loss, k int) (*Classes, error) {
	if err := oaa.Check(k, cfg.Bits); err != nil {
		return nil, err
	}
	lr, err := New(cfg, l)
	if err != nil {
		return nil, err
	}
	_, fixed := loss.DefaultRange(l)
	return &Classes{oaa.New((*classBase)(lr), k, cfg.Bits, lr.Range, fixed), lr}, nil
}

// classBase implements oaa.Base with a Learner.
type classBase Learner

var _ oaa.Base = (*classBase)(nil)

func (c *classBase) SetRange(r loss.Range) { c.Range = r }

func (c *classBase) Scores(scores []float32, fs []feature.Feature, initial float32) {
	for i := range scores {
		scores[i] = initial
	}
	stride := (*Learner)(c).Stride()
	for _, f := range fs {
		row := c.w[int(f.Index)*stride:]
		for i := range scores {
			scores[i] += float32(row[i*stride] * f.Value)
		}
	}
	if c.cfg.Rule != FreeGrad {
		return
	}
	for i, s := range scores {
		if s != s { // as Learn does
			scores[i] = 0
		}
	}
}

// Update predicts again, since the range may have grown, and also learns from an example
// without weight: vw does both.
func (c *classBase) Update(class int, fs []feature.Feature, ex *feature.Example, _ float32) {
	l := (*Learner)(c)
	l.enter(class)
	l.learn(fs, ex)
	l.enter(0)
}

func (c *classBase) Learn(class int, fs []feature.Feature, ex *feature.Example) {
	l := (*Learner)(c)
	l.enter(class)
	l.Learn(fs, ex)
	l.enter(0)
}

func (c *classBase) End(*feature.Example) {}

// enter selects the weights of a class.
func (l *Learner) enter(class int) {
	l.class, l.own = class, l.w[class*l.Stride():]
}
