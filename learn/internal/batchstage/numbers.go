// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"fmt"
	"math/bits"

	"github.com/gvw-project/gvw/feature"
)

// numbers gives the weights that occur in the data consecutive numbers, which are their places in the
// vectors of a solver. The weights that do not occur have no gradient and stay what they are, so that the
// vectors need no room for them: 2^b weights take as much time and memory as those that occur.
//
// The weights of a job are numbered in ascending order of their indices, so that all ranks give a weight the same
// number, whatever their shards have. Behind them the vectors have one further place, for features
// that the first pass over the data has not seen. It stays 0.
type numbers struct {
	indices []uint32 // of the weights, by their numbers: they ascend
	table   int      // number of weights with and without a number
	ranks   []rank   // by an index / 64; nil: they would take more memory than hash
	hash    appeared
}

// rank has a bit for each of 64 consecutive indices with a number, and the first of these numbers.
type rank struct{ set, first uint64 }

// numbered returns the numbers of the weights with these indices, which ascend, of a table of weights.
func numbered(indices []uint32, table int) *numbers {
	n := &numbers{indices: indices, table: table}
	n.prepare()
	return n
}

// check returns an error if the indices, which were read, do not ascend or are of no weight.
func (n *numbers) check() error {
	next := uint64(0) // the smallest index that may follow
	for k, index := range n.indices {
		if uint64(index) < next || uint64(index) >= uint64(n.table) {
			return fmt.Errorf("indices of the weights: number %d is of weight %d, want one of %d to %d: the state is damaged", k, index, next, n.table-1)
		}
		next = uint64(index) + 1
	}
	return nil
}

// prepare makes what finds the number of an index.
func (n *numbers) prepare() {
	words := (n.table + 63) / 64
	if 2*words > 4*max(len(n.indices), 1<<14) { // 16 bytes each against at most 4 slots of 8
		n.hash = appearance(n.indices)
		return
	}
	n.ranks = make([]rank, words)
	for _, index := range n.indices {
		n.ranks[index/64].set |= 1 << (index % 64)
	}
	first := uint64(0)
	for i := range n.ranks {
		n.ranks[i].first = first
		first += uint64(bits.OnesCount64(n.ranks[i].set))
	}
}

// prepared reports whether numbers can be found.
func (n *numbers) prepared() bool { return n.ranks != nil || n.hash.slots != nil }

// width returns the length of a vector over the weights.
func (n *numbers) width() int { return len(n.indices) + 1 }

// of returns the number of a weight, or the further place if it has none.
func (n *numbers) of(index uint32) uint32 {
	if n.ranks == nil {
		return n.hash.of(index)
	}
	r, bit := n.ranks[index/64], index%64
	if r.set>>bit&1 == 0 {
		return uint32(len(n.indices))
	}
	return uint32(r.first) + uint32(bits.OnesCount64(r.set&(1<<bit-1)))
}

// translate sets dst to the features of src with numbers instead of indices. They may be the same memory.
func (n *numbers) translate(dst, src []feature.Feature) {
	for i, f := range src {
		dst[i] = feature.Feature{Index: n.of(f.Index), Value: f.Value}
	}
}

// restore replaces numbers by indices.
func (n *numbers) restore(fs []feature.Feature) {
	for i := range fs {
		fs[i].Index = n.indices[fs[i].Index]
	}
}

// dot returns Σ w·x for features that have indices.
func (n *numbers) dot(w []float32, fs []feature.Feature) float64 {
	var sum float64
	for _, f := range fs {
		sum += float64(w[n.of(f.Index)]) * float64(f.Value)
	}
	return sum
}

// compact returns the weights in the order of their numbers, from a table of all.
func (n *numbers) compact(table []float32) []float32 {
	w := make([]float32, n.width())
	for k, index := range n.indices {
		w[k] = table[index]
	}
	return w
}

// expand returns a table of all weights, in which those without a number are 0.
func (n *numbers) expand(w []float32) []float32 {
	table := make([]float32, n.table)
	for k, index := range n.indices {
		table[index] = w[k]
	}
	return table
}
