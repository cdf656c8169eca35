// SPDX-License-Identifier: Apache-2.0

package lbfgs

import (
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/vector"
)

// ring is the memory of pairs; the fields are those of State.
type ring struct {
	y, s          [][]float32
	rho           []float64
	older, origin int
	alpha         []float64 // scratch of the two-loop recursion
}

var _ descent.Method = (*ring)(nil)

// slot returns the j-th newest pair (y, s); 0 is the slot of the pair in the
// making.
func (r *ring) slot(j int) (y, s []float32) {
	i := (r.origin + j) % len(r.y)
	return r.y[i], r.s[i]
}

// Origin returns the slot of the pair in the making.
func (r *ring) Origin() (x, g []float32) {
	y, s := r.slot(0)
	return s, y
}

// Direct completes the newest pair and computes the next direction by the
// two-loop recursion of Nocedal (1980), with γC for the initial matrix. Then
// it opens the next slot of the ring, which drops the oldest pair when all are
// in use. It reports false, with nothing opened, when the pair shows no
// positive curvature.
func (r *ring) Direct(p *descent.Point) (mix float64, ok bool) {
	y, s := r.slot(0)
	// The slot holds gradient and weights from before the step: turn them
	// into differences.
	vector.Each(len(y), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			g := p.Gradient[i]
			y[i] = g - y[i]
			s[i] = p.X[i] - s[i]
			p.Dir[i] = g
		}
	})
	ys := vector.Dot(y, s)
	yCy := vector.DotDiag(y, p.Precond, y)
	if !(ys > 0) || !(yCy > 0) {
		return 0, false
	}
	r.rho[0] = 1 / ys
	r.recurse(p, float32(ys/yCy))

	mem := len(r.y)
	r.older = min(r.older+1, mem-1)
	copy(r.rho[1:r.older+1], r.rho[:r.older])
	r.origin = (r.origin + mem - 1) % mem
	return 0, true
}

// recurse turns the gradient in Dir into the direction. Each step over the
// pairs changes Dir and takes the dot product that the next step needs in one
// sweep over memory.
func (r *ring) recurse(p *descent.Point, gamma float32) {
	dir, alpha := p.Dir, r.alpha
	last := r.older // index of the oldest pair, counted from the newest
	_, sj := r.slot(0)
	sq := vector.Dot(sj, dir)
	for j := range last {
		alpha[j] = r.rho[j] * sq
		yj, _ := r.slot(j)
		_, sj = r.slot(j + 1)
		sq = vector.AddScaledDot(dir, -float32(alpha[j]), yj, sj)
	}
	alpha[last] = r.rho[last] * sq
	y, _ := r.slot(last)
	vector.AddScaled(dir, dir, -float32(alpha[last]), y)
	vector.Each(len(dir), func(lo, hi int) {
		for i, c := range p.Precond[lo:hi] {
			dir[lo+i] *= float32(gamma * c)
		}
	})
	yr := vector.Dot(y, dir)
	for j := last; j > 0; j-- {
		_, sj = r.slot(j)
		y, _ = r.slot(j - 1)
		yr = vector.AddScaledDot(dir, float32(alpha[j]-float64(r.rho[j]*yr)), sj, y)
	}
	_, s0 := r.slot(0)
	a := float32(alpha[0] - float64(r.rho[0]*yr))
	vector.Each(len(dir), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			dir[i] = -dir[i] - float32(a*s0[i])
		}
	})
}
