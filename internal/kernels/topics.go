// SPDX-License-Identifier: Apache-2.0

package kernels

import "github.com/gvw-project/gvw/internal/fmath"

// Lanes is the number of floats that the kernels for rows process at a time. The length of a row
// is a multiple of it.
const Lanes = 8

// ExpDigammas sets dst[i] to fmath.ExpDigamma32(x[i]). dst may be x; their lengths are equal.
func ExpDigammas(dst, x []float32) {
	for i := expDigammasFast(dst, x); i < len(x); i++ {
		dst[i] = fmath.ExpDigamma32(x[i])
	}
}

// Rows selects rows of a table, with a weight for each. The lengths of Index and Weight are
// equal.
type Rows struct {
	Table  []float32
	Index  []uint32
	Weight []float32
}

// Divide sets dots[i] to the inner product of v and row i, and shares[i] to the row's weight
// divided by it. Lane j of the product sums the elements j, j+8, …; the lanes are added as
// ((0+4)+(2+6)) + ((1+5)+(3+7)).
func (r *Rows) Divide(shares, dots, v []float32) {
	shares, dots = shares[:len(r.Index)], dots[:len(r.Index)]
	if len(r.Index) > 0 && !divideFast(shares, dots, v, r) {
		r.dividePlain(shares, dots, v)
	}
}

// dividePlain is Divide without assembly.
func (r *Rows) dividePlain(shares, dots, v []float32) {
	for i, at := range r.Index {
		row := r.Table[int(at)*len(v):][:len(v)]
		var s [Lanes]float32
		for j := 0; j < len(v); j += Lanes {
			for l := range s {
				s[l] += float32(v[j+l] * row[j+l])
			}
		}
		dots[i] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
		shares[i] = r.Weight[i] / dots[i]
	}
}

// Combine sets dst to the sum of the rows, each times its share.
func (r *Rows) Combine(dst, shares []float32) {
	shares = shares[:len(r.Index)]
	if len(r.Index) == 0 {
		clear(dst)
	} else if !combineFast(dst, shares, r) {
		r.combinePlain(dst, shares)
	}
}

// combinePlain is Combine without assembly.
func (r *Rows) combinePlain(dst, shares []float32) {
	clear(dst)
	for i, at := range r.Index {
		c, row := shares[i], r.Table[int(at)*len(dst):][:len(dst)]
		for k, x := range row {
			dst[k] += float32(c * x)
		}
	}
}

// Add adds v, times the share of the row, to the same rows of another table.
func (r *Rows) Add(table, shares, v []float32) {
	shares = shares[:len(r.Index)]
	if len(r.Index) > 0 && !addFast(table, shares, v, r) {
		r.addPlain(table, shares, v)
	}
}

// addPlain is Add without assembly.
func (r *Rows) addPlain(table, shares, v []float32) {
	for i, at := range r.Index {
		c, row := shares[i], table[int(at)*len(v):][:len(v)]
		for k, x := range v {
			row[k] += float32(c * x)
		}
	}
}
