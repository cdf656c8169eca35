// SPDX-License-Identifier: Apache-2.0

package loss

// expectile is the squared loss with one weight for predictions above the label,
// q, and another below it, 1-q.
type expectile struct{ q float32 }

var _ Loss = expectile{}

func (expectile) Name() string { return "expectile" }

// side returns the weight of the prediction's side.
func (e expectile) side(p, y float32) float32 {
	if y < p {
		return e.q
	}
	return 1 - e.q
}

func (e expectile) Loss(r Range, p, y float32) float32 {
	return e.side(p, y) * squared{}.Loss(r, p, y)
}

func (e expectile) Update(p, y, scale, perUpdate float32) float32 {
	return squared{}.Update(p, y, e.side(p, y)*scale, perUpdate)
}

func (e expectile) UnsafeUpdate(p, y, scale float32) float32 {
	return squared{}.UnsafeUpdate(p, y, e.side(p, y)*scale)
}

func (e expectile) SquareGrad(p, y float32) float32 {
	c := e.side(p, y)
	return c * c * squared{}.SquareGrad(p, y)
}

func (e expectile) First(r Range, p, y float32) float32 {
	return e.side(p, y) * squared{}.First(r, p, y)
}

func (e expectile) Second(r Range, p, y float32) float32 {
	return e.side(p, y) * squared{}.Second(r, p, y)
}
