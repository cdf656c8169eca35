// SPDX-License-Identifier: Apache-2.0

package newton

import (
	"math"

	"github.com/gvw-project/gvw/optim"
)

// MaxFeatures is the greatest number of features whose Hessian is summed as a matrix. A pass
// then costs an addition for each pair of features of an example, and at 256 of them the matrix has
// 257 KiB.
const MaxFeatures = 256

// collinear is the least share of its diagonal element that must be left of a pivot. A feature with
// less depends on those before it, up to rounding.
const collinear = 1e-12

// features returns the weights whose element of the diagonal is positive, nil if there are more
// than limit.
func features(diagonal []float32, limit int) []uint32 {
	list := make([]uint32, 0, limit)
	for i, h := range diagonal {
		if h > 0 {
			if len(list) == limit {
				return nil
			}
			list = append(list, uint32(i))
		}
	}
	return list
}

// direct sets the direction S to the solution of (H+Λ)S = −R for the gradient R, by the matrix
// whose lower triangle m has, and overwrites m. A weight outside the matrix has no curvature but λ.
func (s *Solver) direct(m []float64) {
	st := &s.st
	p := &s.cfg.Penalty
	clear(st.S)
	for i, g := range st.R {
		if g != 0 && !(st.D[i] > 0) {
			if lambda := p.Lambda(uint32(i)); lambda > 0 {
				st.S[i] = float32(-float64(g) / lambda)
			}
		}
	}
	b := s.solution
	for k, i := range s.features {
		m[optim.Triangle(k)+k] += p.Lambda(i)
		b[k] = -float64(st.R[i])
	}
	factorize(m, len(b))
	solve(b, m)
	for k, i := range s.features {
		st.S[i] = float32(b[k])
	}
}

// factorize replaces the lower triangle of a positive semidefinite n × n matrix by the factor L
// of its Cholesky decomposition. The row of a feature that depends on those before it gets an
// infinite pivot, so that its solution is 0.
func factorize(m []float64, n int) {
	for j := range n {
		row := m[optim.Triangle(j):][: j+1 : j+1]
		whole := row[j]
		for k := range row {
			upper := m[optim.Triangle(k):][: k+1 : k+1]
			sum := row[k]
			for i, v := range upper[:k] {
				sum -= float64(v * row[i])
			}
			if k < j {
				row[k] = sum / upper[k]
			} else if row[j] = math.Sqrt(sum); !(sum > float64(collinear*whole)) {
				row[j] = math.Inf(1)
			}
		}
	}
}

// solve replaces b by the solution of LL'x = b.
func solve(b, l []float64) {
	for j := range b {
		row := l[optim.Triangle(j):][: j+1 : j+1]
		sum := b[j]
		for k, v := range row[:j] {
			sum -= float64(v * b[k])
		}
		b[j] = sum / row[j]
	}
	for j := len(b) - 1; j >= 0; j-- {
		row := l[optim.Triangle(j):][: j+1 : j+1]
		b[j] /= row[j]
		for k, v := range row[:j] {
			b[k] -= float64(v * b[j])
		}
	}
}
