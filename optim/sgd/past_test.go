// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"slices"
	"testing"
)

// unmark sets the marks of all weights to 0, as the end of a step of a job does.
func unmark(l *Learner) {
	if mark := l.cfg.MarkedBy(); mark > 0 {
		for w := l.t.w; len(w) > 0; w = w[l.Stride():] {
			w[mark] = 0
		}
	}
}

// For every rule, and for any share of changes, the past has the weights of the time of
// Remember, and the learner gets the same results.
func TestPastHasEarlierWeights(t *testing.T) {
	for name, cfg := range rules() {
		for _, bits := range []uint{6, 18} { // a crowded table, and one that stays nearly empty
			cfg.Bits = bits
			b := batch(300, 20, bits)
			single, watched := learner(t, cfg, "logistic"), learner(t, cfg, "logistic")
			var p Past
			for pass := range 3 {
				if pass > 0 {
					watched.Remember(&p)
				}
				before := slices.Clone(watched.Weights())
				learn(single, b, 0, 150)
				learn(watched, b, 0, 150)
				if pass == 2 && !slices.Equal(p.Whole(), before) {
					t.Errorf("%s, %d bits: in the middle of pass %d the past is not what was", name, bits, pass)
				}
				learn(single, b, 150, 300)
				learn(watched, b, 150, 300)
				single.Materialize()
				watched.Materialize()
				if pass > 0 && !slices.Equal(p.Whole(), before) {
					t.Errorf("%s, %d bits: after pass %d the past is not what was", name, bits, pass)
				}
				if !slices.Equal(single.Weights(), watched.Weights()) {
					t.Fatalf("%s, %d bits: who is watched learns something else", name, bits)
				}
				unmark(single)
				unmark(watched)
			}
		}
	}
}

// For sparse data changes are noted, not copied; where many weights change, the next pass
// begins with a copy. Between an eighth and a quarter of the weights that depends on the number of features.
func TestPastCopiesWhereMuchChanges(t *testing.T) {
	for _, k := range []struct {
		bits       uint // of the table
		examples   int
		within     uint // bits of the indices that occur
		much, done bool
	}{{18, 300, 18, false, false}, {6, 300, 6, true, true}, {12, 40, 10, false, false}, {12, 800, 10, true, true}} {
		cfg := Flags{Bits: k.bits}.Config()
		l := learner(t, cfg, "logistic")
		b := batch(k.examples, 20, k.within)
		var p Past
		for range 2 {
			unmark(l)
			l.Remember(&p)
			learn(l, b, 0, len(b.Examples))
		}
		if p.much != k.much || p.done != k.done || !k.much && (len(p.whole) > 0 || len(p.at) == 0) {
			t.Errorf("%d bits, %d examples: much %t, a copy %t of %d floats, %d notes", k.bits, k.examples, p.much, p.done, len(p.whole), len(p.at))
		}
	}
}

// The notes distinguish the weights of different classes.
func TestPastOfClasses(t *testing.T) {
	const k = 5
	c := classLearner(t, Flags{Bits: 16}.Config(), k)
	b := batch(200, 10, 12)
	teach := func() {
		for i := range b.Examples {
			c.Learn(b.FeaturesOf(&b.Examples[i]), &b.Examples[i], i%k)
		}
	}
	teach()
	unmark(c.Whole)
	var p Past
	c.Whole.Remember(&p)
	before := slices.Clone(c.Whole.Weights())
	teach()
	if p.done {
		t.Fatal("a copy was made: nothing of the notes is seen")
	}
	if !slices.Equal(p.Whole(), before) {
		t.Error("the past is not what was")
	}
	if slices.Equal(c.Whole.Weights(), before) {
		t.Error("nothing was learned")
	}
}

// Noting does not allocate once its memory exists.
func TestPastDoesNotAllocate(t *testing.T) {
	l := learner(t, Flags{Bits: 16}.Config(), "logistic")
	b := batch(100, 10, 16)
	var p Past
	pass := func() {
		unmark(l)
		l.Remember(&p)
		learn(l, b, 0, len(b.Examples))
	}
	pass()
	if n := testing.AllocsPerRun(5, pass); n != 0 {
		t.Errorf("%v allocations in a pass", n)
	}
}
