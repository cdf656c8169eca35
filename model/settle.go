// SPDX-License-Identifier: Apache-2.0

package model

// Settled reports whether the weights are those that predictions use: no pending --l1 or
// --l2 remains to be applied to them.
func (r *Resume) Settled() bool { return r == nil || r.Gravity == 0 && r.Contraction == 1 }

// Settle applies l1_state and l2_state to every weight, and resets them. The model
// predicts as before; training with the same --l1 continues from other numbers.
func (r *Regressor) Settle() {
	if r.Resume.Settled() {
		return
	}
	v := r.Weights.fill()
	gravity, contraction := float32(r.Resume.Gravity), float32(r.Resume.Contraction)
	for i := v.Slots[0]; i < len(v.Data); i += v.Stride {
		v.Data[i] = truncate(v.Data[i], gravity) * contraction
	}
	state := *r.Resume
	state.Gravity, state.Contraction = 0, 1
	r.Resume = &state
}

// truncate moves w towards 0 by gravity, and not beyond.
func truncate(w, gravity float32) float32 {
	switch {
	case w > 0 && w > gravity:
		return w - gravity
	case w < 0 && -w > gravity:
		return w + gravity
	}
	return 0
}
