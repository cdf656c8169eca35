// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"slices"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/optim/sgd"
)

// compact translates features for a learner that is compact. A pass visits batches with numbers instead of indices.
// Where the examples are in memory, they get the numbers once for all passes.
type compact struct {
	view     feature.Batch     // the batch that is visited
	features []feature.Feature // of the batch, or of an example of the validation set
	inPlace  bool              // the examples in memory have numbers
}

// number makes the passes of this stage translate features, and returns a function that ends it.
func (m *Online) number() (end func()) {
	if !m.learner.Compact() {
		return func() {}
	}
	adds := !m.Tally.TestOnly
	if c := &m.compact; !c.inPlace {
		c.inPlace = m.Read.Data.Renumber(func(fs []feature.Feature) { m.learner.Number(fs, fs, adds) })
	}
	if !m.compact.inPlace {
		m.Read.Translate = func(b *feature.Batch) *feature.Batch {
			c := &m.compact
			c.view = *b
			c.view.Features = c.number(m.learner, b.Features, adds)
			return &c.view
		}
	}
	return func() { m.Read.Translate = nil }
}

// number returns the features with numbers, valid until the next call.
func (c *compact) number(l *sgd.Learner, fs []feature.Feature, adds bool) []feature.Feature {
	c.features = slices.Grow(c.features[:0], len(fs))[:len(fs)]
	l.Number(c.features, fs, adds)
	return c.features
}

// known returns features as the learner predicts them, valid until the next call.
func (m *Online) known(fs []feature.Feature) []feature.Feature {
	if !m.learner.Compact() {
		return fs
	}
	return m.compact.number(m.learner, fs, false)
}

// restore gives the examples in memory their indices again, for later stages.
func (m *Online) restore() {
	if m.compact.inPlace {
		m.Read.Data.Renumber(m.learner.Restorer())
	}
	m.compact = compact{}
}

// indexOf returns the index of the weight at a place in the learner's table.
func indexOf(l output.Weighted, place int) uint32 {
	if s, ok := l.(*sgd.Learner); ok && s.Compact() {
		f := [1]feature.Feature{{Index: uint32(place)}}
		s.Restorer()(f[:])
		return f[0].Index
	}
	return uint32(place)
}
