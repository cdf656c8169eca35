// SPDX-License-Identifier: Apache-2.0

package lrq

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/learn/internal/reduction"
)

// FieldAware is the row of interactions of all pairs of some namespaces, in which a feature has
// weights of its own for each other namespace (vw's lrqfa.cc).
var FieldAware = reduction.Spec{
	Name: "lrqfa",
	Options: []reduction.Option{
		{Name: "lrqfa", Kind: reduction.Word, Arg: "ABCK", Help: "cross namespaces A, B and C by K products, with weights for each other namespace; like uic4", Kept: true},
	},
	Whole:    true,
	Excludes: excludes,
	New:      planFields,
}

func planFields(v reduction.Values) (reduction.Plan, error) {
	w := v.Word("lrqfa", "")
	names := strings.TrimRight(w, "0123456789")
	k, _ := strconv.Atoi(w[len(names):])
	if k < 1 || k > maxRank || len(names) < 2 || strings.Contains(names, ":") {
		return reduction.Plan{}, &reduction.Fault{Option: "lrqfa", Text: fmt.Sprintf("%q: want the first bytes of two or more namespaces and a rank of 1 to %d, like abc4", w, maxRank)}
	}
	var pairs []pair
	for i := range names {
		for j := i + 1; j < len(names); j++ {
			if names[i] == names[j] {
				return reduction.Plan{}, &reduction.Fault{Option: "lrqfa", Text: fmt.Sprintf("%q: namespace %q occurs twice", w, names[i])}
			}
			pairs = append(pairs, pair{
				ns: [2]byte{names[j], names[i]}, k: k, slot: [2]int{i * k, j * k},
				half: 0.5, root: float32(math.Sqrt(float64(k))),
			})
		}
	}
	return reduction.Plan{Slots: 1 + len(names)*k, Learners: 1, Make: func(e *reduction.Env) (reduction.Learner, error) {
		return &learner{env: e, pairs: pairs, shifts: true}, nil
	}}, nil
}

// After the first of an example's two updates vw removes the values of the products from their
// namespaces, but not the numbers of their weights. In a namespace that also has products in the
// second update, these get the numbers of the first ones. That needs three namespaces. keepPlaces
// and shiftPlaces do likewise, since results must be vw's.

// keepPlaces keeps the weights of the products of the first update.
func (l *learner) keepPlaces() {
	if !l.shifts {
		return
	}
	for _, ns := range l.seen {
		l.places[ns] = l.places[ns][:0]
		for i := range l.added[ns] {
			l.places[ns] = append(l.places[ns], l.added[ns][i].Index)
		}
	}
}

// shiftPlaces gives the i-th product of each namespace the weight of its i-th product over both
// updates.
func (l *learner) shiftPlaces() {
	if !l.shifts {
		return
	}
	for _, ns := range l.seen {
		added, before := l.added[ns], l.places[ns]
		for i := range added {
			before = append(before, added[i].Index)
			added[i].Index = before[i]
		}
		l.places[ns] = before
	}
}
