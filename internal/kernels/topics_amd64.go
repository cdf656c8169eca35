// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

package kernels

// expDigammas is ExpDigammas for n elements, n a multiple of Lanes.
//
//go:noescape
func expDigammas(dst, x *float32, n int)

// divideRows, combineRows and addRows are the methods of Rows for n rows of width floats.
//
//go:noescape
func divideRows(shares, dots, weights, v, table *float32, index *uint32, n, width int)

//go:noescape
func combineRows(dst, shares, table *float32, index *uint32, n, width int)

//go:noescape
func addRows(table, shares, v *float32, index *uint32, n, width int)

func expDigammasFast(dst, x []float32) int {
	n := len(x) &^ (Lanes - 1)
	if !hasFold || n == 0 {
		return 0
	}
	expDigammas(&dst[0], &x[0], n)
	return n
}

func divideFast(shares, dots, v []float32, r *Rows) bool {
	if hasFold {
		divideRows(&shares[0], &dots[0], &r.Weight[0], &v[0], &r.Table[0], &r.Index[0], len(r.Index), len(v))
	}
	return hasFold
}

func combineFast(dst, shares []float32, r *Rows) bool {
	if hasFold {
		combineRows(&dst[0], &shares[0], &r.Table[0], &r.Index[0], len(r.Index), len(dst))
	}
	return hasFold
}

func addFast(table, shares, v []float32, r *Rows) bool {
	if hasFold {
		addRows(&table[0], &shares[0], &v[0], &r.Index[0], len(r.Index), len(v))
	}
	return hasFold
}
