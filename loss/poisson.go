// SPDX-License-Identifier: Apache-2.0

package loss

import (
	"math"

	"github.com/gvw-project/gvw/internal/fmath"
)

// poisson is the deviance of a Poisson variable whose mean is e**p, for labels
// of 0 and more: 2·(y·(ln y - p) - (y - e**p)). Derivatives and updates are, as
// in vw, those of half of it, the negative logarithm of the likelihood.
type poisson struct{}

var (
	_ Loss    = poisson{}
	_ bounded = poisson{}
	_ picky   = poisson{}
)

// expLimit is vw's limit of an exponent: e**44 still has a square in float32.
const expLimit = 44

func (poisson) Name() string { return "poisson" }

func (poisson) bounds() Range { return Range{Min: -50, Max: 50} }

func (poisson) labels() Range { return Range{Min: 0, Max: math.MaxFloat32} }

func cut(p float32) float32 { return min(max(p, -expLimit), expLimit) }

func mean(p float32) float32 { return fmath.Exp32(cut(p)) }

// logLabel returns ln y; vw adds 1e-6, so the result is finite for 0.
func logLabel(y float32) float32 { return fmath.Log32(y + 1e-6) }

func (poisson) Loss(_ Range, p, y float32) float32 {
	p = cut(p)
	return 2 * (float32(y*(logLabel(y)-p)) - (y - mean(p)))
}

// Update follows the mean, as the invariant rule requires: for a label above 0 at most to e**p
// = y.
func (poisson) Update(p, y, scale, perUpdate float32) float32 {
	p = cut(p)
	e := mean(p)
	sq := float32(scale * perUpdate)
	switch {
	case y > 0 && float32(y*sq) > expLimit:
		return -(p - fmath.Log32(y)) / perUpdate
	case y > 0:
		return float32(y*scale) - fmath.Log1p32(e*fmath.Expm132(y*sq)/y)/perUpdate
	case float32(e*sq) > math.MaxFloat32: // beyond float32: e**p·sq without the 1
		return -(p + fmath.Log32(sq)) / perUpdate
	}
	return -fmath.Log1p32(e*sq) / perUpdate
}

func (poisson) UnsafeUpdate(p, y, scale float32) float32 { return (y - mean(p)) * scale }

func (poisson) SquareGrad(p, y float32) float32 {
	d := mean(p) - y
	return d * d
}

func (poisson) First(_ Range, p, y float32) float32 { return mean(p) - y }

func (poisson) Second(_ Range, p, _ float32) float32 { return mean(p) }
