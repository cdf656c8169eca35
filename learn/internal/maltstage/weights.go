// SPDX-License-Identifier: Apache-2.0

package maltstage

import "github.com/gvw-project/gvw/optim/sgd"

// weights is the table of a learner as updates have it: up to three floats of each weight, of which those that
// the rule does not have are 0.
type weights struct {
	learner  *sgd.Learner
	n        int // number of weights
	slots    int // floats of a weight in an update
	sum      int // slot of the adaptive sum G; 0: none
	largest  int // slot of the largest value N of a feature; 0: none
	adaptive bool
}

// state is the state of one weight.
type state struct{ w, sum, largest float32 }

func newWeights(l *sgd.Learner, rule sgd.Config) weights {
	w := weights{learner: l, n: len(l.Weights()) / l.Stride(), slots: floats(rule)}
	if rule.Adaptive {
		w.sum, w.adaptive = 1, true
	}
	if rule.Normalized {
		w.largest = w.slots - 1
	}
	return w
}

// floats returns the number of floats of a weight in an update.
func floats(rule sgd.Config) int {
	n := 1
	if rule.Adaptive {
		n++
	}
	if rule.Normalized {
		n++
	}
	return n
}

// get returns the state of weight i.
func (t *weights) get(i uint32) state {
	s := state{w: t.learner.At(i)}
	cell := t.learner.Weights()[int(i)*t.learner.Stride():]
	if t.sum > 0 {
		s.sum = cell[t.sum]
	}
	if t.largest > 0 {
		s.largest = cell[t.largest]
	}
	return s
}

// put sets the state of weight i.
func (t *weights) put(i uint32, s state) {
	t.learner.Put(i, s.w)
	cell := t.learner.Weights()[int(i)*t.learner.Stride():]
	if t.sum > 0 {
		cell[t.sum] = s.sum
	}
	if t.largest > 0 {
		cell[t.largest] = s.largest
	}
}

// An update with k weights has k·slots values: first those of the weights, then their sums, then the largest
// values. Its entry for slot s of weight i has index s·n + i.

// write writes the state of a weight to place at of each slot, in an update with k weights.
func (t *weights) write(values []float32, at, k int, s state) {
	values[at] = s.w
	if t.sum > 0 {
		values[t.sum*k+at] = s.sum
	}
	if t.largest > 0 {
		values[t.largest*k+at] = s.largest
	}
}

// read is the inverse of write.
func (t *weights) read(values []float32, at, k int) (s state) {
	s.w = values[at]
	if t.sum > 0 {
		s.sum = values[t.sum*k+at]
	}
	if t.largest > 0 {
		s.largest = values[t.largest*k+at]
	}
	return s
}
