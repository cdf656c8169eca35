// SPDX-License-Identifier: Apache-2.0

package vwtext

import (
	"math"

	"github.com/gvw-project/gvw/feature"
)

// Stats are vw's running sums over the examples of a run, on one rank or over
// all of them. Weighted sums are sums of importance weights.
type Stats struct {
	Examples uint64 // trained and unlabeled ones; held-out ones do not count
	Features uint64 // of these examples, the constant and interactions included

	Labeled   float64 // weight of labeled examples
	Unlabeled float64 // weight of unlabeled examples
	Labels    float64 // sum of weight·label
	Loss      float64 // sum of weighted losses
	T         float64 // weight of all examples, the held-out ones too

	Holdout Holdout

	Seen Labels // which labels occurred, for the best constant
}

// Holdout sums the losses of held-out examples.
type Holdout struct {
	Weight, Loss         float64 // of the whole run
	PassWeight, PassLoss float64 // of the pass under way
}

// Labels remembers the first two distinct labels, as vw does to tell whether
// a best constant makes sense for losses other than the squared one.
type Labels struct {
	First, Second float32 // feature.NoLabel: none yet
	More          bool    // a third one was seen
}

func NewStats() Stats {
	return Stats{Seen: Labels{First: feature.NoLabel, Second: feature.NoLabel}}
}

// Weighted is the weight of all examples that count.
func (s *Stats) Weighted() float64 { return s.Labeled + s.Unlabeled }

// AverageLoss is the mean loss of labeled examples; NaN if there was none.
func (s *Stats) AverageLoss() float64 {
	if s.Labeled <= 0 {
		return math.NaN()
	}
	return s.Loss / s.Labeled
}

// Add counts one example. held says that it is held out.
func (s *Stats) Add(ex *feature.Example, held bool, loss float32, features int) {
	w := float64(ex.Weight)
	l := float64(loss)
	s.T += w
	if held && ex.Labeled() {
		h := &s.Holdout
		h.Weight += w
		h.Loss += l
		h.PassWeight += w
		h.PassLoss += l
		return
	}
	if ex.Labeled() {
		s.Labeled += w
		s.Labels += w * float64(ex.Label)
	} else {
		s.Unlabeled += w
	}
	s.Loss += l
	s.Examples++
	s.Features += uint64(features)
}

// See notes a label.
func (s *Labels) See(y float32) {
	switch {
	case y == feature.NoLabel || y == s.First || y == s.Second || s.More:
	case s.First == feature.NoLabel:
		s.First = y
	case s.Second == feature.NoLabel:
		s.Second = y
	default:
		s.More = true
	}
}

// Merge adds what another rank saw. The order of the calls decides which
// labels are first, so merge in rank order.
func (s *Labels) Merge(o Labels) {
	s.See(o.First)
	s.See(o.Second)
	s.More = s.More || o.More
}

// Merge adds the sums of another rank.
func (s *Stats) Merge(o *Stats) {
	s.Examples += o.Examples
	s.Features += o.Features
	s.Labeled += o.Labeled
	s.Unlabeled += o.Unlabeled
	s.Labels += o.Labels
	s.Loss += o.Loss
	s.T += o.T
	s.Holdout.Weight += o.Holdout.Weight
	s.Holdout.Loss += o.Holdout.Loss
	s.Holdout.PassWeight += o.Holdout.PassWeight
	s.Holdout.PassLoss += o.Holdout.PassLoss
	s.Seen.Merge(o.Seen)
}
