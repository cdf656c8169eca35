// SPDX-License-Identifier: Apache-2.0

package examples

// HoldoutSet decides which examples of a pass are held out.
type HoldoutSet struct {
	On     bool
	Period int // every period-th example of a pass is held out; with after: unused
	After  int // examples after this one are held out; 0: by period
}

// Holds reports whether the n-th example of a pass (from 1) is held out.
func (h *HoldoutSet) Holds(n int) bool {
	if !h.On {
		return false
	}
	if h.After > 0 {
		return n > h.After
	}
	return n%h.Period == 0
}
