// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/sgd"
)

// While a rank learns, other ranks can read the state from which the step started, and the
// results of the last step, before and after the commit. This holds for each rule and at each
// moment.
func TestDoubleBufferKeepsTheState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, err := loss.New("squared")
		if err != nil {
			t.Fatal(err)
		}
		rule := sgd.Flags{Bits: 5, SGD: rapid.Bool().Draw(t, "plain")}.Config()
		learner, err := sgd.New(rule, l)
		if err != nil {
			t.Fatal(err)
		}
		m := NewOnline(OnlineConfig{
			Read: &examples.Reader{}, Tally: &tally.Tally{Loss: l}, Job: &job.Job{Keep: true}, Rule: rule, Passes: 9,
		}, learner)
		learn := func(start []float32) {
			for range rapid.IntRange(0, 12).Draw(t, "examples") {
				ex := &feature.Example{Label: rapid.Float32Range(-1, 1).Draw(t, "label"), Weight: 1, FeatHi: 1}
				learner.Learn([]feature.Feature{{Index: rapid.Uint32Range(0, 31).Draw(t, "index"), Value: 1}}, ex)
				if start != nil && rapid.Bool().Draw(t, "another rank reads") && !slices.Equal(m.Tables.state(), start) {
					t.Fatal("learning has changed the state")
				}
			}
		}
		m.guard() // the first step: every rank can make its state
		learn(nil)
		m.end()
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			// The exchange writes the results beside the contribution of this rank.
			w := learner.Weights()
			contribution := slices.Clone(w)
			results := m.into(w)
			for i := range results {
				results[i] = w[i] / 2
			}
			if mark := rule.MarkedBy(); mark > 0 {
				for i := mark; i < len(results); i += rule.Stride() {
					results[i] = 0 // as AccumulateWeightedAvgInto leaves the slot
				}
			}
			if !slices.Equal(learner.Weights(), contribution) {
				t.Fatal("the exchange has changed the contribution")
			}
			want, read := slices.Clone(results), m.Tables.results()
			if !slices.Equal(read(), want) {
				t.Fatal("before the commit the results are others")
			}
			m.turn()
			m.guard()
			if !slices.Equal(read(), want) || !slices.Equal(learner.Weights(), want) {
				t.Fatal("after the commit the results are others")
			}
			learn(want)
			m.end()
			if !slices.Equal(read(), want) || !slices.Equal(m.Tables.state(), want) {
				t.Fatal("after learning the results are others")
			}
		}
	})
}
