// SPDX-License-Identifier: Apache-2.0

package boosting

import (
	"math"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/internal/merand"
	"github.com/gvw-project/gvw/learn/internal/reduction"
)

// made returns a learner of the given options.
func made(t *testing.T, v reduction.Values) reduction.Learner {
	t.Helper()
	p, err := plan(v)
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.Make(&reduction.Env{Random: new(merand.State)})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// State and section carry all votes from one learner to another.
func TestVotesAreKept(t *testing.T) {
	for _, alg := range []string{logistic, adaptive} {
		v := reduction.Values{"boosting": {"3"}, "alg": {alg}}
		from, to, loaded := made(t, v).(*voters), made(t, v).(*voters), made(t, v).(*voters)
		from.t, *from.env.Random = 7, 11
		copy(from.alpha, []float32{0.5, -2, 1})
		copy(from.v, []float32{0.1, 0.2, 0.7})
		to.SetState(from.AppendState(nil))
		if err := loaded.SetSection(from.AppendSection(nil)); err != nil {
			t.Fatal(err)
		}
		for _, l := range []*voters{to, loaded} {
			if !slices.Equal(l.alpha, from.alpha) || !slices.Equal(l.v, from.v) {
				t.Errorf("%s: got votes %v and %v, want %v and %v", alg, l.alpha, l.v, from.alpha, from.v)
			}
		}
		if to.t != 7 || *to.env.Random != 11 {
			t.Errorf("%s: got %d examples and generator %d, want 7 and 11", alg, to.t, *to.env.Random)
		}
		if err := loaded.SetSection(make([]byte, 5)); err == nil {
			t.Errorf("%s: a section that is cut off is accepted", alg)
		}
	}
}

// The weights of boost-by-majority are the probabilities that a vote decides.
func TestWeightsOfMajority(t *testing.T) {
	l := &majority{boosted: boosted{n: 3}, gamma: 0.1}
	for _, c := range []struct {
		i    int
		s    float32
		want float64
	}{
		{0, 0, 2 * 0.6 * 0.4},
		{1, 1, 0.4},
		{1, -1, 0.6},
		{2, 2, 0},
		{2, 0, 1},
		{2, -2, 0},
	} {
		if got := l.weight(c.i, c.s); math.Abs(float64(got)-c.want) > 1e-6 {
			t.Errorf("learner %d after votes of %v: weight %v, want %v", c.i, c.s, got, c.want)
		}
	}
}
