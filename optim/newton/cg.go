// SPDX-License-Identifier: Apache-2.0

package newton

import "github.com/gvw-project/gvw/optim/vector"

// CG is conjugate gradients for (H+Λ)s = −g with a diagonal preconditioner, ended early: the
// rule of liblinear. Multiply D by the matrix and pass the product to Next until it reports
// that S is good enough.
type CG struct {
	S    []float32 // solution so far
	R    []float32 // residual −g−(H+Λ)S
	D    []float32 // direction of the next product
	Rho  float64   // R'CR
	Q    float64   // g's + s'(H+Λ)s/2, which is negative: the decrease that the quadratic model promises
	Iter int       // products so far
}

// NewCG returns a system for n weights.
func NewCG(n int) CG {
	return CG{S: make([]float32, n), R: make([]float32, n), D: make([]float32, n)}
}

// Begin sets the system of the gradient g with the preconditioner c, at S = 0. It reports false
// if the gradient is zero wherever c is not: S is the solution then.
func (c *CG) Begin(g, precond []float32) bool {
	clear(c.S)
	vector.Each(len(g), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			c.R[i] = -g[i]
			c.D[i] = -float32(precond[i] * g[i])
		}
	})
	c.Rho, c.Q, c.Iter = vector.Dot(c.R, c.D), 0, 0
	return c.Rho > 0
}

// Next makes one iteration with hd, the product of the matrix with D, and sets the next D. It
// reports whether S is final: the last iteration gained less than tolerance times the mean gain
// of all, or limit iterations are done, or there is no curvature along D.
func (c *CG) Next(hd, precond []float32, tolerance float64, limit int) (done bool) {
	c.Iter++
	curvature := vector.Dot(c.D, hd)
	if !(curvature > 0) {
		return true
	}
	alpha := c.Rho / curvature
	vector.AddScaled(c.S, c.S, float32(alpha), c.D)
	vector.AddScaled(c.R, c.R, float32(-alpha), hd)
	gain := alpha * c.Rho / 2
	c.Q -= gain
	if c.Iter >= limit || float64(float64(c.Iter)*gain) <= float64(tolerance*-c.Q) {
		return true
	}
	rho := vector.DotDiag(c.R, precond, c.R)
	beta := float32(rho / c.Rho)
	if c.Rho = rho; !(rho > 0) {
		return true
	}
	vector.Mix(c.D, beta, precond, c.R)
	return false
}
