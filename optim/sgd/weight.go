// SPDX-License-Identifier: Apache-2.0

package sgd

// At returns the value of weight i in a prediction, with pending regularisation applied.
func (l *Learner) At(i uint32) float32 {
	return truncate(l.t.w[int(i)*l.Stride()], float32(l.gravity)) * float32(l.contraction)
}

// Put changes weight i so that At returns v, up to rounding. Pending regularisation stays pending.
func (l *Learner) Put(i uint32, v float32) {
	if l.past != nil {
		l.past.Whole()
	}
	v /= float32(l.contraction)
	switch gravity := float32(l.gravity); {
	case v > 0:
		v += gravity
	case v < 0:
		v -= gravity
	}
	l.t.w[int(i)*l.Stride()] = v
}
