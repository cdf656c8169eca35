// SPDX-License-Identifier: Apache-2.0

package ftrl

// At returns the value of weight i in a prediction without learning.
func (l *Learner) At(i uint32) float32 { return l.w[int(i)*l.Stride()] }
