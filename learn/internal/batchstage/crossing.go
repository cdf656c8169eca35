// SPDX-License-Identifier: Apache-2.0

package batchstage

import "github.com/gvw-project/gvw/feature"

// crossing adds up the Hessian between few features. A pair is added at the row of the later feature of an
// example, so that no pair has to be ordered.
type crossing struct {
	n      int
	number []uint16  // of each weight in the matrix, from 1; 0: it is not one of its features
	sums   []float64 // n × n
	own    []float64 // of each feature with itself
}

// begin clears the sums for the features, which are in ascending order, of so many weights.
func (c *crossing) begin(features []uint32, weights int) {
	c.n = len(features)
	if len(c.own) != c.n || len(c.number) != weights {
		c.number, c.sums, c.own = make([]uint16, weights), make([]float64, c.n*c.n), make([]float64, c.n)
	}
	clear(c.sums)
	clear(c.own)
	clear(c.number)
	for k, i := range features {
		c.number[i] = uint16(k + 1)
	}
}

// add adds the pairs of an example whose later feature has a row from lo to hi-1.
func (c *crossing) add(fs []feature.Feature, second float64, lo, hi int) {
	if second == 0 {
		return
	}
	for k, f := range fs {
		row := int(c.number[f.Index]) - 1
		if row < lo || row >= hi {
			continue
		}
		along := float64(second * float64(f.Value))
		c.own[row] += float64(along * float64(f.Value))
		to := c.sums[row*c.n:][:c.n]
		for _, e := range fs[:k] {
			if i := int(c.number[e.Index]) - 1; i >= 0 {
				to[i] += float64(along * float64(e.Value))
			}
		}
	}
}

// appendTriangle appends the lower triangle of the matrix row by row.
func (c *crossing) appendTriangle(dst []float64) []float64 {
	for i := range c.n {
		for j := range i {
			dst = append(dst, c.sums[i*c.n+j]+c.sums[j*c.n+i])
		}
		// An example that has a feature twice has a pair of it with itself.
		dst = append(dst, c.own[i]+float64(2*c.sums[i*c.n+i]))
	}
	return dst
}

// cross adds the examples' second derivatives to the rows of the matrix from lo to hi-1.
func (a *summation) cross(b *feature.Batch, lo, hi int) {
	for i := range a.examples {
		a.matrix.add(b.FeaturesOf(&a.examples[i]), float64(a.terms[i].second), lo, hi)
	}
}
