// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"testing"

	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// A slow network chooses the solver with few vectors, a fast one that with few passes, unless the
// examples are too few for it.
func TestCostsChoose(t *testing.T) {
	for _, tc := range []struct {
		costs    costs
		features int
		want     Method
	}{
		{costs{pass: 1, reduce: 0, examples: 32561}, 124, Newton},
		{costs{pass: 1, reduce: 1.2, examples: 32561}, 124, Newton},
		{costs{pass: 0.1, reduce: 5, examples: 494021}, 117, Newton},
		{costs{pass: 1, reduce: 0.1, examples: 555086}, 20157, Newton},
		{costs{pass: 0.01, reduce: 1, examples: 11313}, 132695, Pairs},
		{costs{pass: 1, reduce: 1.2, examples: 555086}, 20157, Pairs},
		{costs{pass: 0.1, reduce: 5, examples: 555086}, 20157, GIANT},
		{costs{pass: 1, reduce: 0, examples: 25000}, 81055, Pairs},
		{costs{pass: 0.01, reduce: 1, examples: 25000}, 81055, GIANT},
	} {
		if got := tc.costs.best(tc.features); got != tc.want {
			t.Errorf("%+v, %d features: method %d, want %d", tc.costs, tc.features, got, tc.want)
		}
	}
}

// A rank that adopts a state adopts the choice and its sample, and what the first pass has collected
// remains where the chosen solver needs it.
func TestChoiceIsAdopted(t *testing.T) {
	start := func() *Batch {
		m := &Batch{BatchConfig: BatchConfig{Config: SolverConfig{Method: Auto, Mem: 3}, Passes: 9}, auto: true}
		var err error
		if m.solver, err = m.Config.solver(make([]float32, width), m.Passes); err != nil {
			t.Fatal(err)
		}
		m.acc.quadratic = m.Config.quadratic()
		m.acc.quadratic.begin(1, width)
		m.acc.quadratic.end()
		return m
	}
	if got := start().request().Round; got != 1 {
		t.Errorf("the first pass is round %d, want 1: the chosen solver would collect again", got)
	}
	for _, method := range []Method{Pairs, Newton, GIANT} {
		m, other := start(), start()
		collected := m.acc.quadratic
		m.Config.Sample = 0.25
		if err := m.become(method); err != nil {
			t.Fatal(err)
		}
		if q := m.acc.quadratic; (q == collected) != (method != Pairs) || q != nil && (!q.collected || q.fraction != 0.25) {
			t.Errorf("method %d has %+v after the choice", method, q)
		}
		w := snapshot.Encode(nil)
		m.Shared(&w)
		r := snapshot.Decode(w.Bytes())
		other.Shared(&r)
		if err := r.End("the state"); err != nil {
			t.Fatal(err)
		}
		if c := other.Config; c.Method != method || c.Sample != 0.25 {
			t.Errorf("a rank adopts method %d with a sample of %v, want %d with 0.25", c.Method, c.Sample, method)
		}
	}
}
