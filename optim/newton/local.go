// SPDX-License-Identifier: Apache-2.0

package newton

import (
	"math"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/vector"
)

// Shard is the loss over the examples of one rank.
type Shard struct {
	Weight   float64   // sum of its importance weights
	Start    []float32 // diagonal of its Hessian in pass 1
	Diagonal []float32 // diagonal of its Hessian now
	// Product sets dst to the product of its Hessian with d.
	Product func(dst, d []float32) error
}

// localTolerance ends the conjugate gradients of a shard: products of a shard need no exchange.
const localTolerance = 0.002

// Local sets dst to the part of one rank in the answer to a Local request: its own Newton
// direction for the gradient of all ranks, each weight times the rank's share of the curvature. The
// sum over the ranks is the mean direction. It returns the number of products.
//
// The Hessian of a shard stands for that of all. Each feature is scaled, so that the diagonal is
// that of all ranks, but at most as if the other ranks had as much of the feature as this one; the
// rest is added to the diagonal. A feature that only one rank has is then not counted several
// times, and the weight of a feature follows the ranks that have it.
func Local(dst []float32, req optim.Request, p *descent.Penalty, shard Shard) (products int, err error) {
	clear(dst)
	if !(shard.Weight > 0) {
		return 0, nil
	}
	share := shard.Weight / req.Weight
	n := len(dst)
	// The diagonal of all ranks is that of pass 1. Its mean follows that of the shard.
	var own, all float64
	for i, c := range req.Precond {
		if c > 0 {
			own += float64(shard.Diagonal[i]) / share
			all += max(0, 1/float64(c)-p.Lambda(uint32(i)))
		}
	}
	shrunk := 1.0
	if all > 0 {
		shrunk = own / all
	}
	scale, missing, precond := make([]float32, n), make([]float32, n), make([]float32, n)
	for i, c := range req.Precond {
		if c > 0 {
			lambda := p.Lambda(uint32(i))
			h := float64(shard.Diagonal[i])
			want := float64(shrunk * max(0, 1/float64(c)-lambda))
			var square float64
			if h > 0 {
				square = min(want/h, 1/share)
			}
			scale[i] = float32(math.Sqrt(square))
			missing[i] = float32(max(0, want-float64(square*h)))
			if h = want + lambda; h > 0 {
				precond[i] = float32(1 / h)
			}
		}
	}
	cg := NewCG(n)
	hd, scaled := make([]float32, n), make([]float32, n)
	for ok := cg.Begin(req.Dir, precond); ok; {
		for i, v := range scale {
			scaled[i] = v * cg.D[i]
		}
		if err := shard.Product(hd, scaled); err != nil {
			return cg.Iter, err
		}
		for i, m := range missing {
			hd[i] = float32(scale[i]*hd[i]) + float32(m*cg.D[i])
		}
		p.AddProduct(hd, cg.D)
		ok = !cg.Next(hd, precond, localTolerance, MaxProducts)
	}
	vector.Each(n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			part := float64(shard.Start[i]) + float64(share*p.Lambda(uint32(i)))
			dst[i] = float32(float64(req.Precond[i]) * part * float64(cg.S[i]))
		}
	})
	return cg.Iter, nil
}
