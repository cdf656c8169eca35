// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// matrix is a square matrix by rows.
type matrix [][]float64

func newMatrix(size int) matrix {
	all := make([]float64, size*size)
	m := make(matrix, size)
	for i := range m {
		m[i] = all[i*size:][:size]
	}
	return m
}

// times returns the product with b.
func (m matrix) times(b matrix) matrix {
	p := newMatrix(len(m))
	for i, row := range m {
		out := p[i]
		for k, x := range row {
			if x != 0 {
				floats.AddScaled(out, x, b[k])
			}
		}
	}
	return p
}

// differences returns the matrix by which the differences between the first values and the last one change, if m is that
// of the values. If the rows of m add up to 1, it has the eigenvalues of m but for that 1.
func (m matrix) differences() matrix {
	n := len(m) - 1
	d := newMatrix(n)
	for i := range n {
		for j := range n {
			d[i][j] = m[i][j] - m[n][j]
		}
	}
	return d
}

// squarings makes the error of radius about 1e-8 of it: the 2^30th root of a norm. Fewer suffice when the norm changes by the
// same factor again and again, but not so few that this may be chance.
const (
	squarings      = 30
	leastSquarings = 20
)

// radius returns the largest modulus of an eigenvalue, as the limit of |m^k|^(1/k) (Gelfand's formula) for k = 2^squarings.
// It needs no eigenvalues, which may be complex. A matrix with a power that is 0 but for rounding has the radius 0. m is
// used up.
func (m matrix) radius() float64 {
	root, last := 0.0, math.Inf(1) // logarithm of the norm, divided by the power; logarithm by the last squaring
	for power := 1.0; power <= 1<<squarings; power *= 2 {
		norm := 0.0
		for _, row := range m {
			for _, x := range row {
				norm = max(norm, math.Abs(x))
			}
		}
		if norm < 1e-13 { // of a matrix with the norm 1 before: rounding
			return 0
		}
		step := math.Log(norm)
		root += step / power
		if power >= 1<<leastSquarings && math.Abs(step-last) < 1e-12 { // all later squarings have the same: the sum of step/2^i
			return math.Exp(root + step/power)
		}
		last = step
		for _, row := range m {
			floats.Scale(1/norm, row)
		}
		m = m.times(m)
	}
	return math.Exp(root)
}
