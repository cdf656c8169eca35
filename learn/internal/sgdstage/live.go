// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"context"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/model"
)

// The methods of this file are for a server: its examples have no end, so it visits them one by
// one instead of by passes, and takes the model between any two of them. A test has a reader per
// goroutine: readers share the weights, which do not change, and each books in a tally of its own.

// Example processes one example as a pass does.
func (m *Online) Example(b *feature.Batch, ex *feature.Example, held bool) error {
	// As in vw the range follows the label before the example is predicted.
	m.Tally.Observe(ex, held)
	m.learner.Range = m.Tally.Seen
	return m.processor.Process(m.learner, b, ex, held)
}

// Current returns the model as it is now. It has the memory of the learner's weights.
func (m *Online) Current(ctx context.Context, g *allreduce.Group) (*model.Regressor, error) {
	if err := m.Exchange(ctx, g); err != nil {
		return nil, err
	}
	return m.made(), nil
}

// Reader returns a stage that predicts by the weights of m and books in t.
func (m *Online) Reader(t *tally.Tally) *Online {
	return NewOnline(m.readerConfig(t), m.learner.Reader())
}

// readerConfig returns the settings of a stage that only predicts and books in t.
func (c *OnlineConfig) readerConfig(t *tally.Tally) OnlineConfig {
	own := *c
	own.Tally, own.Audit = t, nil
	return own
}

// Example processes one example as a pass does.
func (m *Classes) Example(b *feature.Batch, ex *feature.Example, held bool) error {
	return m.chooser.process(b, ex, held)
}

// Reader returns a stage that predicts by the weights of m and books in t.
func (m *Classes) Reader(t *tally.Tally) *Classes {
	c, learners := m.readerConfig(t), m.learners.Reader()
	return NewClasses(c, learners, NewChooser(&c, m.chooser.ChooserConfig, learners.Learner, learners.Whole, m.chooser.labels))
}

// Example processes one example as a pass does. There are no readers: the learners that are
// composed here have scratch memory of their own, so predictions take turns.
func (m *Reduced) Example(b *feature.Batch, ex *feature.Example, held bool) error {
	return m.visit(b, ex, held)
}

// Example processes one example as a pass does.
func (m *FTRL) Example(b *feature.Batch, ex *feature.Example, held bool) error {
	return m.process(b, ex, held)
}

// Current returns the model as it is now. It has the memory of the learner's weights.
func (m *FTRL) Current(ctx context.Context, g *allreduce.Group) (*model.Regressor, error) {
	if err := m.Exchange(ctx, g); err != nil {
		return nil, err
	}
	return m.model(), nil
}

// Reader returns a stage that predicts simple labels by the weights of m and books in t.
func (m *FTRL) Reader(t *tally.Tally) *FTRL {
	return NewFTRL(m.readerConfig(t), m.learner.Reader(), nil)
}
