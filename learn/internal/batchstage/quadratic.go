// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"slices"

	"github.com/gvw-project/gvw/feature"
)

// quadratic is the loss of this rank to the second order, at the weights of one gradient pass. A
// sample of the examples, which the seed and the number of that pass determine, is kept in
// memory: products with its Hessian need no pass over the data. A pass can collect it again at
// any time, with the same bits.
type quadratic struct {
	fraction float64 // share of the examples in the sample; 1: no sample is kept
	seed     uint64

	round  int     // number of the gradient pass; 0: nothing is held
	weight float64 // sum of the importance weights

	kept      feature.Batch // the sample
	second    []float32     // of each example kept: l'', times importance and 1/fraction
	along     []float32     // of each example kept: what a product adds, without the value
	diagonal  []float64     // of the Hessian, over all examples
	start     []float32     // the same in the solver's first pass; nil: not held
	missing   []float64     // what the sample's diagonal lacks of it
	collected bool          // missing is complete
}

// sampled reports whether products are over a sample.
func (q *quadratic) sampled() bool { return q.fraction < 1 }

// begin starts a collection for n weights.
func (q *quadratic) begin(round, n int) {
	q.round, q.weight, q.collected = round, 0, false
	q.kept.Reset()
	q.second = q.second[:0]
	q.diagonal = zeroed(q.diagonal, n)
}

// draws reports whether the sample has the example at a place of the shard.
func (q *quadratic) draws(place int) bool {
	// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
	z := q.seed + uint64(q.round)*0x9e3779b97f4a7c15 + uint64(place)*0xd1342543de82ef95
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return float64(z>>11)/(1<<53) < q.fraction
}

// add adds an example with its second derivative, times importance.
func (q *quadratic) add(b *feature.Batch, ex *feature.Example, place int, second float32) {
	q.weight += float64(ex.Weight)
	if !q.sampled() || !q.draws(place) {
		return
	}
	lo := uint32(len(q.kept.Features))
	q.kept.Features = append(q.kept.Features, b.FeaturesOf(ex)...)
	q.kept.Examples = append(q.kept.Examples, feature.Example{FeatLo: lo, FeatHi: uint32(len(q.kept.Features))})
	q.second = append(q.second, float32(float64(second)/q.fraction))
}

// end completes a collection.
func (q *quadratic) end() {
	q.collected = true
	if !q.sampled() {
		return
	}
	q.missing = zeroed(q.missing, len(q.diagonal))
	for i := range q.kept.Examples {
		second := float64(q.second[i])
		for _, f := range q.kept.FeaturesOf(&q.kept.Examples[i]) {
			q.missing[f.Index] += second * float64(f.Value*f.Value)
		}
	}
	// A feature that the sample lacks would have no curvature, and its weight would go too far.
	for i, h := range q.diagonal {
		q.missing[i] = max(0, h-q.missing[i])
	}
}

// product adds the product with d to sum. The number of threads does not change its bits.
func (q *quadratic) product(sum []float64, d []float32, threads int) {
	n := len(q.kept.Examples)
	q.along = slices.Grow(q.along[:0], n)[:n]
	share(n, threads, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			q.along[i] = q.second[i] * float32(dot(d, q.kept.FeaturesOf(&q.kept.Examples[i])))
		}
	})
	share(len(sum), threads, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			sum[i] = float64(q.missing[i] * float64(d[i]))
		}
		from, span := uint64(lo), uint64(hi-lo)
		part := sum[lo:hi]
		for i := range q.kept.Examples {
			along := float64(q.along[i])
			for _, f := range q.kept.FeaturesOf(&q.kept.Examples[i]) {
				if k := uint64(f.Index) - from; k < span { // wraps below from
					part[k] += along * float64(f.Value)
				}
			}
		}
	})
}

// renumber gives the weights, which are in the order of first, their places in vectors of a width: their numbers, or
// their indices if to is nil.
func (q *quadratic) renumber(first *appeared, to *numbers, width int) {
	if q.round == 0 {
		return
	}
	place := first.indices
	if to != nil {
		place = make([]uint32, len(first.indices))
		for k, index := range first.indices {
			place[k] = to.of(index)
		}
	}
	for i := range q.kept.Features {
		f := &q.kept.Features[i]
		f.Index = place[f.Index]
	}
	diagonal, missing := q.diagonal, q.missing
	q.diagonal = make([]float64, width)
	for k, v := range diagonal {
		q.diagonal[place[k]] = v
	}
	if !q.sampled() {
		return
	}
	q.missing = make([]float64, width)
	for k, v := range missing {
		q.missing[place[k]] = v
	}
}
