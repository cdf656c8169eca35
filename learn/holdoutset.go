// SPDX-License-Identifier: Apache-2.0

package learn

// holdoutSet decides which examples of a pass are held out.
type holdoutSet struct {
	on     bool
	period int // every period-th example of a pass is held out; with after: unused
	after  int // examples after this one are held out; 0: by period
}

// holds reports whether the n-th example of a pass (from 1) is held out.
func (h *holdoutSet) holds(n int) bool {
	if !h.on {
		return false
	}
	if h.after > 0 {
		return n > h.after
	}
	return n%h.period == 0
}
