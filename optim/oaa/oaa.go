// SPDX-License-Identifier: Apache-2.0

package oaa

import (
	"fmt"
	"math/bits"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
)

// Base is the set of learners of all classes. The index of a feature is the number of its
// weight of class 0; its weight of class k has that number plus k.
type Base interface {
	// SetRange limits predictions from now on.
	SetRange(r loss.Range)

	// Scores sets the score of each class, not limited to the range.
	Scores(scores []float32, fs []feature.Feature, initial float32)

	// Update lets a class learn from the example, whose label is 1 or -1. score is its
	// score before any class has learned from the example, limited to the range.
	Update(class int, fs []feature.Feature, ex *feature.Example, score float32)

	// Learn lets a class predict the example and learn from it. Other classes may have
	// learned from it before.
	Learn(class int, fs []feature.Feature, ex *feature.Example)

	// End follows the last Update for an example.
	End(ex *feature.Example)
}

// Learner is one against all. It is for one goroutine at a time.
type Learner struct {
	// Range limits predictions. It follows the labels of the classes unless Fixed is set.
	// The caller may set both at any time.
	Range loss.Range
	Fixed bool

	base  Base
	shift int    // log2 of the width
	mask  uint32 // of the table

	scaled []feature.Feature // the example's features, by their weight of class 0
	scores []float32
	own    feature.Example // the example with the label of the current class
	wild   int             // see Wild
	sample *sample         // nil: every class learns from every example
}

// Check reports whether k classes fit a table of 2^bits weights.
func Check(k int, bits uint) error {
	if k < 1 || bits < 32 && k > 1<<bits {
		return fmt.Errorf("oaa: %d classes: want 1 to the 2^%d weights", k, bits)
	}
	return nil
}

// New returns a learner of k classes, valid by [Check], whose learners are those of base.
func New(base Base, k int, b uint, r loss.Range, fixed bool) *Learner {
	return &Learner{
		Range: r, Fixed: fixed,
		base:   base,
		shift:  bits.Len(uint(k - 1)),
		mask:   uint32(1<<b - 1),
		scores: make([]float32, k),
		wild:   -1,
	}
}

// Place returns the number of the weight that a class has for the feature with index i.
func (l *Learner) Place(i uint32, class int) uint32 { return i<<l.shift&l.mask + uint32(class) }

// Predict returns the score of each class, limited to the range. The slice is
// the learner's, until the next call.
func (l *Learner) Predict(fs []feature.Feature, initial float32) []float32 {
	l.scaled = l.scaled[:0]
	for _, f := range fs {
		l.scaled = append(l.scaled, feature.Feature{Index: l.Place(f.Index, 0), Value: f.Value})
	}
	l.base.SetRange(l.Range)
	l.base.Scores(l.scores, l.scaled, initial)
	l.wild = -1
	for i, p := range l.scores {
		if p-p != 0 && l.wild < 0 { // infinite, or not a number
			l.wild = i
		}
		l.scores[i] = l.Range.Clip(p)
	}
	return l.scores
}

// Wild returns the first class whose score in the last prediction was no finite number
// before it was limited to the range, and -1 if there is none.
func (l *Learner) Wild() int { return l.wild }

// Learn predicts the example, then each class learns whether the example is its own. class is
// the right one, from 0; a number outside the classes means none. The scores are those before
// the updates.
func (l *Learner) Learn(fs []feature.Feature, ex *feature.Example, class int) []float32 {
	scores := l.Predict(fs, ex.Initial)
	l.own = *ex
	for i, p := range scores {
		l.turn(i == class)
		l.base.Update(i, l.scaled, &l.own, p)
	}
	l.base.End(ex)
	return scores
}

// turn sets the label of the example for a class that it belongs to, or not.
func (l *Learner) turn(own bool) {
	l.own.Label = -1
	if own {
		l.own.Label = 1
	}
	if !l.Fixed {
		l.Range = l.Range.Include(l.own.Label)
		l.base.SetRange(l.Range)
	}
}
