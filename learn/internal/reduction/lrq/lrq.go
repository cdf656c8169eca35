// SPDX-License-Identifier: Apache-2.0

// Package lrq is vw's low-rank interactions of pairs of namespaces, and their field-aware form.
//
// For a pair ab and the rank k, each feature of a and of b has k further weights. The product
// Σ_n (Σ l_n·x)(Σ r_n·z), over the features x of a and z of b, is added to the prediction. An example
// is learned from twice: first one side of each product learns while the other one is constant,
// and then the other way round (vw's lrq.cc).
package lrq

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/merand"
	"github.com/gvw-project/gvw/learn/internal/reduction"
)

// Spec is the row of interactions of chosen pairs.
var Spec = reduction.Spec{
	Name: "lrq",
	Options: []reduction.Option{
		{Name: "lrq", Kind: reduction.Words, Arg: "ABK", Help: "cross namespaces A and B by K products, whose factors are learned; like ui10", Kept: true},
		{Name: "lrqdropout", Kind: reduction.Flag, Help: "learn with half of the products, drawn for each example", Kept: true},
	},
	Whole:    true,
	Banner:   banner,
	Excludes: excludes,
	New:      plan,
}

// banner returns vw's line, with its space at the end.
func banner(v reduction.Values) string {
	line := "creating low rank quadratic features for pairs: "
	if v.Has("lrqdropout") {
		line += "(using dropout) "
	}
	return line + strings.Join(sets(v), " ") + " "
}

// sets returns the pairs with their ranks once each, in vw's order.
func sets(v reduction.Values) []string { return slices.Compact(slices.Sorted(slices.Values(v["lrq"]))) }

func excludes(s reduction.Setting) string {
	if len(s.Interactions) > 0 {
		return "interactions would also cross the products: leave one of them out"
	}
	return reduction.IgnoresLinear(s)
}

// pair is a pair of namespaces to cross.
type pair struct {
	ns   [2]byte
	k    int
	slot [2]int  // slot before the first weight of a feature of each namespace
	half float32 // initial weights are below this
	root float32 // divided by this
}

// maxRank is the largest rank of a pair.
const maxRank = 1 << 16

func plan(v reduction.Values) (reduction.Plan, error) {
	words := sets(v)
	var pairs []pair
	var faults []error
	most := 0
	for _, w := range words {
		k := 0
		if len(w) > 2 {
			k, _ = strconv.Atoi(w[2:])
		}
		if k < 1 || k > maxRank || w[0] == ':' || w[1] == ':' {
			faults = append(faults, &reduction.Fault{Option: "lrq", Text: fmt.Sprintf("%q: want the first bytes of two namespaces and a rank of 1 to %d, like ab4", w, maxRank)})
			continue
		}
		most = max(most, k)
		pairs = append(pairs, pair{ns: [2]byte{w[0], w[1]}, k: k, half: 1, root: 1})
	}
	drops := v.Has("lrqdropout")
	return reduction.Plan{Slots: 1 + most, Learners: 1, Make: func(e *reduction.Env) (reduction.Learner, error) {
		return &learner{env: e, pairs: pairs, drops: drops, seed: merand.State(e.Seed | 8675309)}, nil
	}}, errors.Join(faults...)
}

type learner struct {
	env   *reduction.Env
	pairs []pair
	drops bool

	counter uint64       // examples and empty lines so far
	seed    merand.State // of dropout

	placed []feature.Feature      // the example's features by their first weights
	shifts bool                   // see shiftPlaces
	places [256][]uint32          // of the products of the first update
	added  [256][]feature.Feature // products of the example, by the namespace whose side learns
	spans  [256]feature.Span      // the example's namespaces by their first byte, in placed
	seen   []byte                 // these bytes, in the order of the example
	all    []feature.Feature
	own    feature.Example // the example as the second side learns it
}

var _ reduction.Stateful = (*learner)(nil)

func (l *learner) AppendState(dst []uint64) []uint64 {
	return append(dst, l.counter, uint64(l.seed))
}

func (l *learner) SetState(words []uint64) { l.counter, l.seed = words[0], merand.State(words[1]) }

// EndPass counts the end of a pass, which is an example to vw.
func (l *learner) EndPass() { l.counter++ }

// open begins an example, and returns its number.
func (l *learner) open(b *feature.Batch, ex *feature.Example) uint64 {
	l.counter += uint64(ex.Before) + 1
	l.placed = l.env.Base.Append(l.placed[:0], b.FeaturesOf(ex))
	for _, ns := range l.seen {
		l.spans[ns] = feature.Span{}
	}
	l.seen = l.seen[:0]
	for _, s := range b.SpansOf(ex) {
		if s.Lo < ex.FeatLo { // ignored but in interactions
			continue
		}
		s.Lo, s.Hi = s.Lo-ex.FeatLo, s.Hi-ex.FeatLo
		l.spans[s.NS] = s
		l.seen = append(l.seen, s.NS)
	}
	return l.counter - 1
}

// cross returns the features of the example, and after those of each namespace the products whose
// factors there learn: the right namespaces of the pairs, or the left ones if which is odd.
func (l *learner) cross(b *feature.Batch, ex *feature.Example, which uint64, learns bool) []feature.Feature {
	l.multiply(b, ex, which, learns)
	return l.join()
}

// multiply sets the products of the example by the namespaces whose factors learn.
func (l *learner) multiply(b *feature.Batch, ex *feature.Example, which uint64, learns bool) {
	drops := l.drops && learns
	scale := float32(1)
	if l.drops && !learns {
		scale = 0.5
	}
	base := l.env.Base
	fs, whole := b.FeaturesOf(ex), b.WholeOf(ex)
	for _, p := range l.pairs {
		a, z := which%2, (which+1)%2
		left, right := l.spans[p.ns[a]], l.spans[p.ns[z]]
		added := l.added[right.NS]
		for i := left.Lo; i < left.Hi; i++ {
			x := l.placed[i].Value
			for n := 1; n <= p.k; n++ {
				if drops && l.seed.Float() <= 0.5 {
					continue
				}
				at := l.placed[i].Index + uint32(p.slot[a]+n)
				w := base.At(at)
				if learns && w == 0 { // away from the saddle point
					number := uint64(fs[i].Index)
					if whole != nil {
						number = whole[i]
					}
					first, pitch := base.Floats(number)
					s := merand.State(first + uint64(p.slot[a]+n)*pitch)
					w = s.Float() * p.half / p.root
					base.Set(at, w)
				}
				wx := float32(float32(scale*w) * x)
				for j := right.Lo; j < right.Hi; j++ {
					added = append(added, feature.Feature{Index: l.placed[j].Index + uint32(p.slot[z]+n), Value: wx * l.placed[j].Value})
				}
			}
		}
		l.added[right.NS] = added
	}
}

// join returns the features of the example with the products, which it removes.
func (l *learner) join() []feature.Feature {
	l.all = l.all[:0]
	end := uint32(0)
	for _, ns := range l.seen {
		s := l.spans[ns]
		l.all = append(append(l.all, l.placed[s.Lo:s.Hi]...), l.added[ns]...)
		l.added[ns] = l.added[ns][:0]
		end = s.Hi
	}
	return append(l.all, l.placed[end:]...)
}

func (l *learner) Predict(b *feature.Batch, ex *feature.Example) reduction.Result {
	l.open(b, ex)
	l.all = l.cross(b, ex, 0, false)
	raw, score := l.env.Base.Predict(0, l.all, ex.Initial)
	return reduction.Result{Raw: raw, Score: score, Loss: l.env.LossOf(score, ex)}
}

func (l *learner) Learn(b *feature.Batch, ex *feature.Example) reduction.Result {
	n := l.open(b, ex)
	l.multiply(b, ex, n, true)
	l.keepPlaces()
	l.all = l.join()
	_, score := l.env.Base.Learn(0, l.all, ex)
	l.own = *ex
	l.own.HiddenSquares += reduction.Squares(l.all)
	l.multiply(b, ex, n+1, true)
	l.shiftPlaces()
	l.all = l.join()
	l.own.HiddenSquares -= reduction.Squares(l.all) // vw's plain rules keep the sum of the first time
	raw, _ := l.env.Base.Learn(0, l.all, &l.own)    // as in vw -r has the raw score of the second time
	l.env.Base.End(ex)
	return reduction.Result{Raw: raw, Score: score, Loss: l.env.LossOf(score, ex)}
}
