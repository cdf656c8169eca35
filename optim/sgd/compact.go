// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"iter"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/mem"
	"github.com/gvw-project/gvw/loss"
)

// NewCompact returns a compact learner with weights of zero: features have numbers of weights instead of indices. The
// learner numbers the weights in the order in which they occur first. Its table begins with them, so that only these and
// their numbers take memory. The results are those of a learner by New.
//
// Features are translated by [Learner.Number] before they are passed to Predict, Learn or Prefetch. At, Put and the
// learners that share its table have numbers, too. A compact learner cannot be one of Replicas or of a Crew, and keeps
// no Past. InitialT must be 0 for an adaptive rule.
func NewCompact(cfg Config, l loss.Loss) (*Learner, error) {
	lr, err := newLearner(cfg, l, min(1<<cfg.Bits+1, reservedWeights))
	if err != nil {
		return nil, err
	}
	lr.numbers = newNumbers(cfg.Bits)
	mem.Huge(lr.t.w)
	return lr, nil
}

// reservedWeights is the number of weights for which memory is reserved at first. Only the used part becomes resident.
const reservedWeights = 1 << 22

// reserve makes the table long enough for the weights that have numbers.
func (l *Learner) reserve() {
	stride := l.Stride()
	need, was := stride*(l.numbers.count+1), len(l.t.w)
	if need <= was {
		return
	}
	w := make([]float32, min(max(4*was, need), stride*(1<<l.cfg.Bits+1)))
	mem.Huge(w)
	copy(w, l.t.w)
	l.t.use(w)
}

// Compact reports whether features have numbers of weights instead of indices.
func (l *Learner) Compact() bool { return l.numbers != nil }

// Number sets dst to the features of src with numbers instead of indices. They may be the same memory. With adds, a
// weight without a number gets the next one. Otherwise it has number 0, whose weight is 0: such features may only be
// predicted.
func (l *Learner) Number(dst, src []feature.Feature, adds bool) {
	l.numbers.translate(dst, src, adds)
	l.reserve()
}

// Restorer returns a function that replaces numbers by indices.
func (l *Learner) Restorer() func(fs []feature.Feature) { return l.numbers.restore() }

// Weight returns the floats of the weight with an index, which gets a number if it has none.
func (l *Learner) Weight(index uint32) []float32 {
	stride, number := l.Stride(), int(l.numbers.add(index))
	l.reserve()
	return l.t.w[number*stride:][:stride]
}

// All yields the index and the number of each weight that has a number, in no particular order.
func (l *Learner) All() iter.Seq2[uint32, int] { return l.numbers.all() }
