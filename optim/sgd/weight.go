// SPDX-License-Identifier: Apache-2.0

package sgd

// At returns what weight i counts in a prediction: with what regularisation still has
// to take from it.
func (l *Learner) At(i uint32) float32 {
	return truncate(l.t.w[int(i)*l.Stride()], float32(l.gravity)) * float32(l.contraction)
}
