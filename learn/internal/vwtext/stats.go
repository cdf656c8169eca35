// SPDX-License-Identifier: Apache-2.0

package vwtext

import (
	"math"

	"github.com/gvw-project/gvw/feature"
)

// Stats are vw's running sums over the examples of a run, on one rank or over
// all of them. Weighted sums are sums of importance weights.
type Stats struct {
	Examples uint64 // labeled and unlabeled examples, without those held out
	Features uint64 // features of these examples, with the constant and interactions

	Labeled   float64 // weight of labeled examples
	Unlabeled float64 // weight of unlabeled examples
	Labels    float64 // sum of weight·label
	Loss      float64 // sum of weighted losses
	T         float64 // weight of all examples, with those held out

	Holdout Holdout

	Seen Labels // labels that have occurred, for the best constant
}

// Holdout sums the losses of held-out examples.
type Holdout struct {
	Weight, Loss         float64 // of the whole run
	PassWeight, PassLoss float64 // of the current pass
}

// Labels has the first two distinct labels. As in vw they decide whether a best constant makes
// sense for losses other than the squared one.
type Labels struct {
	First, Second float32 // feature.NoLabel: none yet
	More          bool    // there was a third distinct label
}

// NewStats returns the sums over no examples.
func NewStats() Stats {
	return Stats{Seen: Labels{First: feature.NoLabel, Second: feature.NoLabel}}
}

// Weighted returns the weight of all examples that count.
func (s *Stats) Weighted() float64 { return s.Labeled + s.Unlabeled }

// AverageLoss returns the mean loss of labeled examples. It is NaN if there were none.
func (s *Stats) AverageLoss() float64 {
	if s.Labeled <= 0 {
		return math.NaN()
	}
	return s.Loss / s.Labeled
}

// Add counts one example. held reports that it is held out. loss includes its weight.
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

// See records a label.
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

// Merge adds the labels of another rank. The order of the calls decides which labels are the
// first two, so callers merge in the order of the ranks.
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
