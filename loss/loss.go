// SPDX-License-Identifier: Apache-2.0

package loss

// Range is the range of predictions: the labels seen (squared loss), or fixed
// (logistic: -50 to 50).
type Range struct{ Min, Max float32 }

// Clip limits p to the range; NaN becomes 0, as in vw.
func (r Range) Clip(p float32) float32 {
	switch {
	case p != p:
		return 0
	case p < r.Min:
		return r.Min
	case p > r.Max:
		return r.Max
	}
	return p
}

// Loss is a loss function of a raw prediction p and a label y, with the
// update rules that vw derives from it. All arithmetic that vw does in float32
// is done in float32.
type Loss interface {
	// Name is vw's --loss_function spelling.
	Name() string
	// Loss is the loss itself, unweighted.
	Loss(r Range, p, y float32) float32
	// Update is the importance-invariant update (Karampatziakis and Langford,
	// 2011): the factor of rate·x for the scale (eta·weight) and the
	// prediction's change per unit of update.
	Update(p, y, scale, perUpdate float32) float32
	// UnsafeUpdate is the plain gradient step: -scale·dLoss/dp.
	UnsafeUpdate(p, y, scale float32) float32
	// SquareGrad is the squared first derivative that the adaptive rule sums.
	SquareGrad(p, y float32) float32
	// First and Second are derivatives with respect to p.
	First(r Range, p, y float32) float32
	Second(r Range, p, y float32) float32
}
