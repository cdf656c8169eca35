// SPDX-License-Identifier: Apache-2.0

package svm

import "github.com/gvw-project/gvw/feature"

// mean is the mean of the weights after each step, a = alpha·(u + beta·v). A step on few features changes few
// entries of u, and the two factors.
type mean struct {
	u           []float64 // nil without averaging
	alpha, beta float64
	n           int // steps of which it is the mean
}

// leastAlpha and mostBeta bound the factors, before digits of u and beta·v cancel.
const (
	leastAlpha = 1e-6
	mostBeta   = 1e6
)

// step includes the weights of m: a ← a + (w − a)/n.
func (a *mean) step(m *Model) {
	a.n++
	if a.n == 1 {
		a.alpha, a.beta = 1, m.scale // u is zero
		return
	}
	if a.alpha < leastAlpha || a.beta > mostBeta {
		a.detach(m.v)
	}
	share := 1 / float64(a.n)
	a.alpha *= 1 - share
	a.beta += share * m.scale / a.alpha
}

// detach makes the mean independent of v.
func (a *mean) detach(v []float32) {
	if a.n == 0 {
		return
	}
	for i := range a.u {
		a.u[i] = a.alpha * (a.u[i] + float64(a.beta*float64(v[i])))
	}
	a.alpha, a.beta = 1, 0
}

// dot returns a'x.
func (a *mean) dot(v []float32, x []feature.Feature) (sum float64) {
	for _, f := range x {
		sum += float64((a.u[f.Index] + float64(a.beta*float64(v[f.Index]))) * float64(f.Value))
	}
	return a.alpha * sum
}
