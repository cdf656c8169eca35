// SPDX-License-Identifier: Apache-2.0

package loss

import "github.com/gvw-project/gvw/internal/fmath"

// taylor is the scale·perUpdate below which an invariant update is the plain
// gradient step: the closed form would cancel.
const taylor = 1e-6

// squared is (p-y)², continued linearly outside the range of predictions.
type squared struct{}

var _ Loss = squared{}

func (squared) Name() string { return "squared" }

func (squared) Loss(r Range, p, y float32) float32 {
	switch {
	case p < r.Min:
		if y == r.Min {
			return 0
		}
		return continued(y-r.Min, r.Min-p)
	case p > r.Max:
		if y == r.Max {
			return 0
		}
		return continued(r.Max-y, p-r.Max)
	}
	return (p - y) * (p - y)
}

// continued returns the loss of a prediction that exceeds the border of the range by excess;
// inside is the distance of the label from that border.
func continued(inside, excess float32) float32 {
	return float32(inside*inside) + float32(2*inside*excess)
}

func (squared) Update(p, y, scale, perUpdate float32) float32 {
	if float32(scale*perUpdate) < taylor {
		return 2 * (y - p) * scale
	}
	return (y - p) * (1 - fmath.Exp32(-2*scale*perUpdate)) / perUpdate
}

func (squared) UnsafeUpdate(p, y, scale float32) float32 { return 2 * (y - p) * scale }

func (squared) SquareGrad(p, y float32) float32 { return 4 * (p - y) * (p - y) }

func (squared) First(r Range, p, y float32) float32 {
	switch { // Min first, as in vw
	case p < r.Min:
		p = r.Min
	case p > r.Max:
		p = r.Max
	}
	return 2 * (p - y)
}

func (squared) Second(r Range, p, _ float32) float32 {
	if p < r.Min || p > r.Max {
		return 0
	}
	return 2
}
