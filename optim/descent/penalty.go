// SPDX-License-Identifier: Apache-2.0

package descent

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gvw-project/gvw/optim/vector"
)

// Penalty is the regulariser Σ λᵢ(wᵢ−mᵢ)²/2.
type Penalty struct {
	// L2 is λ of every weight, towards 0. 0: no regulariser.
	L2 float64
	// Free lists weights without regulariser, such as the constant.
	Free []uint32
	// Precision and Mean are λ and m of each weight, which replace L2, for example from a model
	// of earlier data. nil: L2 and 0.
	Precision, Mean []float32
}

func (p *Penalty) validate(n int) error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !(p.L2 >= 0) || math.IsInf(p.L2, 0) {
		fault("the l2 regularisation is %v: use a finite number that is not negative", p.L2)
	}
	for _, i := range p.Free {
		if int64(i) >= int64(n) {
			fault("weight %d is to be free of regularisation, but there are %d", i, n)
		}
	}
	if p.Precision == nil && p.Mean == nil {
		return errors.Join(errs...)
	}
	if p.L2 != 0 {
		fault("an l2 regularisation of %v beside one for each weight: use one of them", p.L2)
	}
	if len(p.Precision) != n || len(p.Mean) != n {
		fault("regularisers of %d and %d weights, but there are %d", len(p.Precision), len(p.Mean), n)
	}
	for i, v := range p.Precision {
		if !(v >= 0) || math.IsInf(float64(v), 0) {
			fault("the regulariser of weight %d is %v: use finite numbers that are not negative", i, v)
			break
		}
	}
	if i := vector.FirstWild(p.Mean); i >= 0 {
		fault("the regulariser of weight %d pulls towards %v: use finite numbers", i, p.Mean[i])
	}
	return errors.Join(errs...)
}

// none reports whether there is no regulariser.
func (p *Penalty) none() bool { return p.L2 == 0 && p.Precision == nil }

// at returns λ and m of weight i, even if the weight is free.
func (p *Penalty) at(i uint32) (lambda float64, mean float32) {
	if p.Precision != nil {
		return float64(p.Precision[i]), p.Mean[i]
	}
	return p.L2, 0
}

// Gradient sets dst to g plus the penalty's gradient at x, and returns the
// penalty.
func (p *Penalty) Gradient(dst, g, x []float32) float64 {
	switch {
	case p.none():
		copy(dst, g)
		return 0
	case p.Precision == nil:
		vector.AddScaled(dst, g, float32(p.L2), x)
	default:
		vector.Each(len(dst), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				dst[i] = g[i] + float32(p.Precision[i]*(x[i]-p.Mean[i]))
			}
		})
	}
	for _, i := range p.Free {
		lambda, mean := p.at(i)
		dst[i] -= float32(float32(lambda) * (x[i] - mean))
	}
	return 0.5 * p.quadratic(x, true, true)
}

// Value returns the penalty at x.
func (p *Penalty) Value(x []float32) float64 { return 0.5 * p.quadratic(x, true, true) }

// Lambda returns λ of weight i, which is 0 if the weight is free.
func (p *Penalty) Lambda(i uint32) float64 {
	if slices.Contains(p.Free, i) {
		return 0
	}
	lambda, _ := p.at(i)
	return lambda
}

// AddProduct adds the product of the penalty's Hessian with v to dst.
func (p *Penalty) AddProduct(dst, v []float32) {
	switch {
	case p.none():
		return
	case p.Precision == nil:
		vector.AddScaled(dst, dst, float32(p.L2), v)
	default:
		vector.Each(len(dst), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				dst[i] += float32(p.Precision[i] * v[i])
			}
		})
	}
	for _, i := range p.Free {
		lambda, _ := p.at(i)
		dst[i] -= float32(float32(lambda) * v[i])
	}
}

// quadratic returns Σ λᵢvᵢ², of v−m if centred is set, and without the free weights if spare is
// set.
func (p *Penalty) quadratic(v []float32, centred, spare bool) float64 {
	if p.none() {
		return 0
	}
	var sum float64
	if p.Precision == nil {
		sum = float64(p.L2 * vector.Dot(v, v))
	} else {
		var mean []float32
		if centred {
			mean = p.Mean
		}
		sum = vector.DotDiagFrom(v, mean, p.Precision)
	}
	if !spare {
		return sum
	}
	for _, i := range p.Free {
		lambda, mean := p.at(i)
		e := float64(v[i])
		if centred {
			e = float64(v[i] - mean)
		}
		sum -= float64(float64(lambda*e) * e)
	}
	return max(0, sum)
}

// maxRatio bounds each element of the preconditioner, relative to the greatest element of its
// inverse.
const maxRatio = 10_000

// Precondition sets dst[i] = 1/(h[i]+λᵢ), at most maxRatio over the greatest
// h+λ, and 0 where h+λ is 0. h nil stands for zeros.
func (p *Penalty) Precondition(dst, h []float32, spare bool) {
	var most float32
	for i := range dst {
		v := float32(p.L2)
		if p.Precision != nil {
			v = p.Precision[i]
		}
		if h != nil {
			v += h[i]
		}
		dst[i] = v
	}
	if spare {
		for _, i := range p.Free {
			lambda, _ := p.at(i)
			dst[i] = max(0, dst[i]-float32(lambda))
		}
	}
	for i, v := range dst {
		most = max(most, v)
		if v > 0 {
			dst[i] = 1 / v
		}
	}
	if most == 0 {
		clear(dst)
		return
	}
	limit := maxRatio / most
	for i, c := range dst {
		if c > limit {
			dst[i] = limit
		}
	}
}
