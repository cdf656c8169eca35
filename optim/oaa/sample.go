// SPDX-License-Identifier: Apache-2.0

package oaa

import (
	"fmt"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/merand"
)

// sample is --oaa_subsample: the selection of the classes that learn from an example of another
// class.
type sample struct {
	n     int
	order []int // a permutation of the classes, used cyclically
	next  int
}

// Turn returns the position of the next class in the sampling order. A copy needs it to
// continue exactly as the original would. It is 0 without Subsample.
func (l *Learner) Turn() int {
	if l.sample == nil {
		return 0
	}
	return l.sample.next
}

// SetTurn restores the value that Turn returned.
func (l *Learner) SetTurn(next int) error {
	if next < 0 || next >= len(l.scores) || l.sample == nil && next != 0 {
		return fmt.Errorf("oaa: turn %d of %d classes, which cannot be", next, len(l.scores))
	}
	if l.sample != nil {
		l.sample.next = next
	}
	return nil
}

// Subsample lets only n of the other classes learn from an example, in turn, with its weight
// times K/n. n must be below the number of classes. It returns the state of the generator after
// drawing their order.
func (l *Learner) Subsample(n int, state merand.State) (merand.State, error) {
	k := len(l.scores)
	if n < 1 || n >= k {
		return state, fmt.Errorf("oaa: a sample of %d classes: want 1 to %d, less than there are", n, k-1)
	}
	order := make([]int, k)
	for i := range order {
		order[i] = i
	}
	for i := range order {
		j := int(state.Float()*float32(k-i)) + i
		order[i], order[j] = order[j], order[i]
	}
	l.sample = &sample{n: n, order: order}
	return state, nil
}

// LearnSample is Learn with the right class and a sample of the others, each of which predicts
// again before its own update, as in vw. vw treats these examples as unlabeled, so End is not
// called.
func (l *Learner) LearnSample(fs []feature.Feature, ex *feature.Example, class int) []float32 {
	scores := l.Predict(fs, ex.Initial)
	l.own = *ex
	if class >= 0 && class < len(scores) {
		l.turn(true)
		l.base.Learn(class, l.scaled, &l.own)
	}
	s := l.sample
	l.own.Weight *= float32(len(scores)) / float32(s.n)
	for done := 0; done < s.n; { // an example without weight uses its turns, too
		i := s.order[s.next]
		s.next = (s.next + 1) % len(scores)
		if i != class {
			l.turn(false)
			l.base.Learn(i, l.scaled, &l.own)
			done++
		}
	}
	return scores
}
