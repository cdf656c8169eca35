// SPDX-License-Identifier: Apache-2.0

package loss

// quantile is τ·(y-p) for predictions below the label and (1-τ)·(p-y) above it
// (the pinball loss): its best constant is the τ-quantile of the labels.
type quantile struct{ tau float32 }

var _ Loss = quantile{}

func (quantile) Name() string { return "quantile" }

func (q quantile) Loss(_ Range, p, y float32) float32 {
	e := y - p
	if e > 0 {
		return q.tau * e
	}
	return -(1 - q.tau) * e
}

// Update stops at the label: no step goes beyond it.
func (q quantile) Update(p, y, scale, perUpdate float32) float32 {
	e := y - p
	step := q.UnsafeUpdate(p, y, scale)
	if moved := float32(step * perUpdate); e > 0 && moved < e || e < 0 && moved > e {
		return step
	}
	return e / perUpdate
}

func (q quantile) UnsafeUpdate(p, y, scale float32) float32 { return -q.First(Range{}, p, y) * scale }

func (q quantile) SquareGrad(p, y float32) float32 {
	d := q.First(Range{}, p, y)
	return d * d
}

func (q quantile) First(_ Range, p, y float32) float32 {
	switch e := y - p; {
	case e > 0:
		return -q.tau
	case e < 0:
		return 1 - q.tau
	}
	return 0
}

func (quantile) Second(Range, float32, float32) float32 { return 0 }
