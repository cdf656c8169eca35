// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"slices"

	"github.com/gvw-project/gvw/feature"
)

// translate returns the batch with numbers instead of indices. The batch itself stays as it is, since later passes
// may read it again.
func (a *summation) translate(b *feature.Batch) *feature.Batch {
	if a.inPlace || a.first == nil && a.numbers == nil {
		return b
	}
	n := len(b.Features)
	a.features = slices.Grow(a.features[:0], n)[:n]
	if a.first != nil {
		a.appear(b.Features)
	} else {
		share(n, a.threads(n), func(lo, hi int) { a.numbers.translate(a.features[lo:hi], b.Features[lo:hi]) })
	}
	a.view = *b
	a.view.Features = a.features
	return &a.view
}

// renumber replaces the indices of the examples in memory by the numbers, once they are there and there are numbers. The first
// time it also joins their batches to ones that are worth sharing among threads.
func (a *summation) renumber() {
	if !a.joined {
		a.joined = a.read.Data.Join(joinedFeatures)
	}
	if n := a.numbers; n != nil && !a.inPlace {
		a.inPlace = a.read.Data.Renumber(func(fs []feature.Feature) { n.translate(fs, fs) })
	}
}

// restore gives the examples in memory their indices again.
func (a *summation) restore() {
	if a.inPlace {
		a.read.Data.Renumber(a.numbers.restore)
	}
	a.inPlace = false
}

// appear numbers the weights of features that appear for the first time, and makes room for their sums.
func (a *summation) appear(fs []feature.Feature) {
	for i, f := range fs {
		k := a.first.add(f.Index)
		a.features[i] = feature.Feature{Index: k, Value: f.Value}
		if int(k) == len(a.req.X) {
			a.req.X = append(a.req.X, a.start[f.Index])
		}
	}
	more := len(a.req.X) - len(a.gradient)
	a.gradient = append(a.gradient, make([]float64, more)...)
	if a.collects {
		a.quadratic.diagonal = append(a.quadratic.diagonal, make([]float64, more)...)
	} else {
		a.diagonal = append(a.diagonal, make([]float64, more)...)
	}
}

// index returns the index of a weight by its place in the vectors.
func (a *summation) index(place int) int {
	var indices []uint32
	switch {
	case a.first != nil:
		indices = a.first.indices
	case a.numbers != nil:
		indices = a.numbers.indices
	}
	if place >= len(indices) {
		return place
	}
	return int(indices[place])
}
