// SPDX-License-Identifier: Apache-2.0

package ftrl

// At returns what weight i counts in the prediction of an example that is not
// learned from.
func (l *Learner) At(i uint32) float32 { return l.w[int(i)*l.Stride()] }
