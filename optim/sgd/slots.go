// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"fmt"
	"math/bits"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/fmath"
	"github.com/gvw-project/gvw/loss"
)

// group is k learners in one table. The weight of learner k for a feature follows that of learner
// k-1. They share the learning rate, the time, the range and what is due to regularisation; the
// sums of the normalised rule are each learner's own.
type group struct {
	Whole *Learner // the learner of the table of all

	tables []table
	sums   []ClassSums
	whole  int // number of a learner whose table is that of all; -1: none
}

// ClassSums are the sums of the normalised rule that one of the learners in a table keeps.
type ClassSums struct{ Nsx, TotalWeight float64 }

// newGroup returns k learners with weights of zero.
func newGroup(cfg Config, l loss.Loss, k int) (group, error) {
	lr, err := New(cfg, l)
	if err != nil {
		return group{}, err
	}
	g := group{Whole: lr, sums: make([]ClassSums, k), whole: -1}
	for range k {
		g.tables = append(g.tables, lr.t)
	}
	g.place()
	g.sums[0] = ClassSums{lr.nsx, lr.totalWeight} // the examples of InitialT, which vw counts for the first one only
	return g, nil
}

// place lets the table of each learner begin at its first weight.
func (g *group) place() {
	whole := &g.Whole.t
	for i := range g.tables {
		t := &g.tables[i]
		if i == g.whole {
			*t = *whole
			continue
		}
		t.from = uint32(i)
		t.w = whole.w[i*g.Whole.Stride():]
		if t.cells != nil {
			t.cells = whole.cells[i:]
		}
	}
}

// Use makes w the weights of all learners, as Learner.Use does.
func (g *group) Use(w []float32) {
	g.Whole.Use(w)
	g.place()
}

// Sums returns the sums of each learner. The caller may set them when a model is loaded.
func (g *group) Sums() []ClassSums { return g.sums }

// update lets learner k learn from the example after the prediction score. An example with a
// weight of 0 or below changes nothing.
func (g *group) update(k int, fs []feature.Feature, ex *feature.Example, score float32) {
	l := g.Whole
	if ex.Weight <= 0 {
		return
	}
	gap := l.loss.Loss(l.Range, score, ex.Label)
	if gap <= 0 && l.cfg.SparseL2 == 0 {
		return
	}
	all, sum := l.t, &g.sums[k]
	l.t, l.nsx, l.totalWeight = g.tables[k], sum.Nsx, sum.TotalWeight
	l.hidden = ex.HiddenSquares
	l.update(fs, score, ex.Label, ex.Weight, gap)
	sum.Nsx, sum.TotalWeight = l.nsx, l.totalWeight
	l.t = all
}

// end adds the weight of an example to the time.
func (g *group) end(ex *feature.Example) {
	if ex.Weight > 0 {
		g.Whole.time += float64(ex.Weight)
	}
}

// Slots are learners in one table, with which learners such as matrix factorisation and networks
// are composed, as vw's reductions are of its base learner. A feature has a number of weights, its
// slots. Learner k has slot k.
//
// Features are passed with the number of their first weight, which [Slots.Append] computes. That
// number plus n is the number of their weight in slot n.
type Slots struct {
	group

	shift int    // log2 of the width
	mask  uint32 // of the table
	pitch int    // floats per weight in vw
}

// NewSlots returns k learners of the loss l with weights of zero. A feature has width weights, at
// least k. vw has pitch floats per weight, which decides where it draws.
func NewSlots(cfg Config, l loss.Loss, width, k, pitch int) (*Slots, error) {
	if width < k || k < 1 || cfg.Bits < 32 && width > 1<<cfg.Bits {
		return nil, fmt.Errorf("sgd: %d weights per feature and %d learners: want 1 to the 2^%d weights, and no more learners than weights", width, k, cfg.Bits)
	}
	g, err := newGroup(cfg, l, k)
	if err != nil {
		return nil, err
	}
	return &Slots{g, bits.Len(uint(width - 1)), uint32(1<<cfg.Bits - 1), pitch}, nil
}

// Absolute makes the features of learner k those of the whole table: their index is the number of
// a weight.
func (s *Slots) Absolute(k int) {
	s.whole = k
	s.place()
}

// Mask returns the number of the last weight.
func (s *Slots) Mask() uint32 { return s.mask }

// Width returns the number of weights from a feature's first one to the next feature's.
func (s *Slots) Width() int { return 1 << s.shift }

// First returns the number of the first weight of the feature with index i.
func (s *Slots) First(i uint32) uint32 { return i << s.shift & s.mask }

// Floats returns the number of the first float of the first weight of the feature with index i in
// vw's table, and the number of floats per weight. vw draws initial values by such numbers, to
// which it applies no mask.
func (s *Slots) Floats(i uint64) (first, pitch uint64) {
	pitch = uint64(s.pitch)
	return i << s.shift * pitch, pitch
}

// Append appends features with the number of their first weight to dst.
func (s *Slots) Append(dst, fs []feature.Feature) []feature.Feature {
	for i := range fs {
		dst = append(dst, feature.Feature{Index: s.First(fs[i].Index), Value: fs[i].Value})
	}
	return dst
}

// Predict returns the score of learner k, raw and limited to the range.
func (s *Slots) Predict(k int, fs []feature.Feature, initial float32) (raw, clipped float32) {
	l := s.Whole
	raw = l.rule.dot(&s.tables[k], fs, &l.ahead, initial, float32(l.gravity)) * float32(l.contraction)
	return raw, l.Range.Clip(raw)
}

// Scores sets the raw score of each of the first learners.
func (s *Slots) Scores(scores []float32, fs []feature.Feature, initial float32) {
	s.scores(scores, fs, initial)
}

// Update lets learner k learn the example's label from the features after the prediction score. It
// changes nothing if the example has no weight. It returns the score after the update, as vw
// computes it: without regularisation and range.
func (s *Slots) Update(k int, fs []feature.Feature, ex *feature.Example, score float32) float32 {
	s.Whole.moved = 0
	s.update(k, fs, ex, score)
	return score + s.Whole.moved
}

// Learn lets learner k predict the example and learn from it.
func (s *Slots) Learn(k int, fs []feature.Feature, ex *feature.Example) (raw, clipped float32) {
	raw, clipped = s.Predict(k, fs, ex.Initial)
	s.update(k, fs, ex, clipped)
	return raw, clipped
}

// End follows the last update for an example.
func (s *Slots) End(ex *feature.Example) { s.end(ex) }

// Rate returns the learning rate of an example by the plain rule, η/(t+weight)^p, for a learner with
// updates of its own.
func (s *Slots) Rate(ex *feature.Example) float32 {
	l := s.Whole
	return l.eta / fmath.Pow32(float32(l.time)+ex.Weight, l.cfg.PowerT)
}

// At returns weight i as the table has it, without pending regularisation.
func (s *Slots) At(i uint32) float32 { return s.Whole.t.w[int(i)*s.Whole.Stride()] }

// Norm returns the greatest |x| of the feature of weight i if the rule is normalised, and otherwise
// weight i: vw reads it at the same place.
func (s *Slots) Norm(i uint32) float32 { return s.Whole.t.w[int(i)*s.Whole.Stride()+s.Whole.t.norm] }

// Set changes weight i as the table has it.
func (s *Slots) Set(i uint32, v float32) {
	l := s.Whole
	if l.past != nil {
		at := [1]feature.Feature{{Index: i}}
		l.past.note(&l.t, at[:])
	}
	l.t.w[int(i)*l.Stride()] = v
}

// With makes updates follow another loss within another range until they are set again. It
// returns the present ones.
func (s *Slots) With(l loss.Loss, r loss.Range) (loss.Loss, loss.Range) {
	was, within := s.Whole.loss, s.Whole.Range
	s.Whole.loss, s.Whole.Range = l, r
	return was, within
}
