// SPDX-License-Identifier: Apache-2.0

package newton

import (
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/vector"
)

// Shard is the loss over the examples of one rank.
type Shard struct {
	Weight   float64   // sum of its importance weights
	Diagonal []float32 // diagonal of its Hessian
	// Product sets dst to the product of its Hessian with d.
	Product func(dst, d []float32) error
}

// Local sets dst to the part of one rank in the answer to a Local request: its own Newton
// direction for the gradient of all ranks, times its share of the importance weights. The sum
// over the ranks is the mean direction. It returns the number of products.
//
// The Hessian of a shard stands for that of all: it is scaled by the inverse of the share. A
// feature that is rarer in the shard than elsewhere would have too little curvature in it, and the
// direction would go too far there. So the diagonal is raised to that of all ranks.
func Local(dst []float32, req optim.Request, p *descent.Penalty, shard Shard) (products int, err error) {
	clear(dst)
	if !(shard.Weight > 0) {
		return 0, nil
	}
	share := shard.Weight / req.Weight
	scale := 1 / share
	n := len(dst)
	missing, precond := make([]float32, n), make([]float32, n)
	// The diagonal of all ranks is that of the first pass. Its mean follows that of the shard.
	var own, all float64
	for i, c := range req.Precond {
		if c > 0 {
			own += scale * float64(shard.Diagonal[i])
			all += max(0, 1/float64(c)-p.Lambda(uint32(i)))
		}
	}
	shrunk := 1.0
	if all > 0 {
		shrunk = own / all
	}
	for i, c := range req.Precond {
		if c > 0 {
			lambda := p.Lambda(uint32(i))
			h := float64(scale * float64(shard.Diagonal[i]))
			want := float64(shrunk * max(0, 1/float64(c)-lambda))
			missing[i] = float32(max(0, want-h))
			if h = max(h, want) + lambda; h > 0 {
				precond[i] = float32(1 / h)
			}
		}
	}
	cg := NewCG(n)
	hd := make([]float32, n)
	for ok := cg.Begin(req.Dir, precond); ok; {
		if err := shard.Product(hd, cg.D); err != nil {
			return cg.Iter, err
		}
		for i, m := range missing {
			hd[i] = float32(float32(scale)*hd[i]) + float32(m*cg.D[i])
		}
		p.AddProduct(hd, cg.D)
		ok = !cg.Next(hd, precond, Tolerance, MaxProducts)
	}
	vector.AddScaled(dst, dst, float32(share), cg.S)
	return cg.Iter, nil
}
