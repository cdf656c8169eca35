// SPDX-License-Identifier: Apache-2.0

package optimtest

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gvw-project/gvw/optim"
)

// LossFunc returns a loss and its two derivatives with respect to p, in float64. The reference
// optima are computed with the same function.
type LossFunc func(p, y float64) (l, d1, d2 float64)

// Logistic is log(1+exp(−yp)) for y −1 or 1.
func Logistic(p, y float64) (l, d1, d2 float64) {
	s := 1 / (1 + math.Exp(y*p))
	return math.Log1p(math.Exp(-y * p)), -y * s, s * (1 - s)
}

// Squared is (p−y)².
func Squared(p, y float64) (l, d1, d2 float64) { return (p - y) * (p - y), 2 * (p - y), 2 }

// Poisson is twice exp(p) − yp, without the terms that do not depend on p.
func Poisson(p, y float64) (l, d1, d2 float64) {
	e := math.Exp(p)
	return 2 * (e - y*p), 2 * (e - y), 2 * e
}

// Objective returns the sums over points, except those of Local requests. lo and hi clip
// predictions.
func Objective(points []Point, loss LossFunc, lo, hi float64) optim.ObjectiveFunc {
	predict := func(x []float32, p *Point) float64 {
		var sum float64
		for i, j := range p.Index {
			sum += float64(x[j]) * float64(p.Value[i])
		}
		return sum
	}
	return func(_ context.Context, req optim.Request, dst *optim.Sums) error {
		dst.Loss, dst.Weight, dst.Curvature = 0, 0, 0
		dst.Trials = dst.Trials[:0]
		for range req.Steps {
			dst.Trials = append(dst.Trials, 0)
		}
		dst.Matrix = dst.Matrix[:0]
		for range optim.Triangle(len(req.Features)) {
			dst.Matrix = append(dst.Matrix, 0)
		}
		var grad, diag []float64
		if req.Kind != optim.Curvature && req.Kind != optim.Trial && req.Kind != optim.Matrix {
			grad = make([]float64, len(req.X))
			diag = make([]float64, len(req.X))
		}
		for k := range points {
			p := &points[k]
			w, z := float64(p.Weight), predict(req.X, p)
			l, d1, d2 := loss(max(lo, min(hi, z)), float64(p.Label))
			dst.Loss += w * l
			dst.Weight += w
			p.cross(dst.Matrix, w*d2, req.Features)
			switch req.Kind {
			case optim.Matrix:
				continue
			case optim.Curvature:
				dx := predict(req.Dir, p)
				dst.Curvature += w * d2 * dx * dx
				continue
			case optim.Product:
				d1 = d2 * predict(req.Dir, p)
			case optim.Trial:
				dx := predict(req.Dir, p)
				for i, step := range req.Steps {
					l, _, _ := loss(max(lo, min(hi, z+step*dx)), float64(p.Label))
					dst.Trials[i] += w * l
				}
				continue
			}
			for i, j := range p.Index {
				v := float64(p.Value[i])
				grad[j] += w * d1 * v
				diag[j] += w * d2 * v * v
			}
		}
		for j, v := range grad {
			dst.Gradient[j] = float32(v)
		}
		if req.Kind == optim.First {
			for j, v := range diag {
				dst.Diagonal[j] = float32(v)
			}
		}
		return nil
	}
}

// cross adds h times the products of each two features to the lower triangle of a matrix of them.
func (p *Point) cross(triangle []float64, h float64, features []uint32) {
	at := make(map[uint32]float64)
	for i, j := range p.Index {
		at[j] += float64(p.Value[i])
	}
	for r, i := range features {
		for c, j := range features[:r+1] {
			triangle[optim.Triangle(r)+c] += h * at[i] * at[j]
		}
	}
}

// LabelRange returns the range of predictions of squared loss: that of the
// labels, with 0.
func LabelRange(points []Point) (lo, hi float64) {
	for i := range points {
		lo, hi = min(lo, float64(points[i].Label)), max(hi, float64(points[i].Label))
	}
	return lo, hi
}

// Problem is a sum of losses with the regulariser Σ λᵢ(xᵢ−mᵢ)²/2.
type Problem struct {
	Points []Point
	Loss   LossFunc
	Lambda []float64
	Mean   []float64 // nil: zeros
}

// Value returns f, its gradient and, if h is not nil, its Hessian at x, in
// float64.
func (p *Problem) Value(x []float64, h *mat.SymDense) (f float64, g []float64) {
	g = make([]float64, len(x))
	for k := range p.Points {
		q := &p.Points[k]
		w := float64(q.Weight)
		var z float64
		for i, j := range q.Index {
			z += x[j] * float64(q.Value[i])
		}
		l, d1, d2 := p.Loss(z, float64(q.Label))
		f += w * l
		for i, j := range q.Index {
			v := float64(q.Value[i])
			g[j] += w * d1 * v
			for a := 0; h != nil && a <= i; a++ {
				b := int(q.Index[a])
				h.SetSym(int(j), b, h.At(int(j), b)+w*d2*v*float64(q.Value[a]))
			}
		}
	}
	for i, v := range x {
		if p.Mean != nil {
			v -= p.Mean[i]
		}
		f += p.Lambda[i] / 2 * v * v
		g[i] += p.Lambda[i] * v
		if h != nil {
			h.SetSym(i, i, h.At(i, i)+p.Lambda[i])
		}
	}
	return f, g
}

// Newton returns the minimum by Newton's method. It halves each step until f falls, except for
// rounding.
func (p *Problem) Newton() ([]float64, error) {
	n := len(p.Lambda)
	x := make([]float64, n)
	for range 100 {
		h := mat.NewSymDense(n, nil)
		f, g := p.Value(x, h)
		var chol mat.Cholesky
		if !chol.Factorize(h) {
			return nil, fmt.Errorf("the Hessian is not positive definite")
		}
		var step mat.VecDense
		if err := chol.SolveVecTo(&step, mat.NewVecDense(n, g)); err != nil {
			return nil, err
		}
		if mat.Norm(&step, 2) < 1e-10 {
			return x, nil
		}
		next := make([]float64, n)
		for t := 1.0; ; t /= 2 {
			for i := range x {
				next[i] = x[i] - t*step.AtVec(i)
			}
			if to, _ := p.Value(next, nil); to <= f+1e-9*math.Abs(f) || t < 1e-6 {
				break
			}
		}
		x = next
	}
	return nil, fmt.Errorf("no convergence of Newton's method")
}
