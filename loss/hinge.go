// SPDX-License-Identifier: Apache-2.0

package loss

// hinge is max(0, 1-y·p) for labels -1 and 1.
type hinge struct{}

var _ Loss = hinge{}

func (hinge) Name() string { return "hinge" }

func (hinge) Loss(_ Range, p, y float32) float32 { return max(0, 1-float32(y*p)) }

// Update stops at the margin: no step goes beyond y·p = 1.
func (h hinge) Update(p, y, scale, perUpdate float32) float32 {
	missing := 1 - float32(y*p)
	switch {
	case missing <= 0:
		return 0
	case float32(scale*perUpdate) < missing:
		return y * scale
	}
	return y * (missing / perUpdate)
}

func (h hinge) UnsafeUpdate(p, y, scale float32) float32 { return -h.First(Range{}, p, y) * scale }

func (h hinge) SquareGrad(p, y float32) float32 {
	d := h.First(Range{}, p, y)
	return d * d
}

func (hinge) First(_ Range, p, y float32) float32 {
	if float32(y*p) >= 1 {
		return 0
	}
	return -y
}

func (hinge) Second(Range, float32, float32) float32 { return 0 }
