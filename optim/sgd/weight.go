// SPDX-License-Identifier: Apache-2.0

package sgd

// At returns the value of weight i in a prediction, with pending regularisation applied.
func (l *Learner) At(i uint32) float32 {
	return truncate(l.t.w[int(i)*l.Stride()], float32(l.gravity)) * float32(l.contraction)
}
