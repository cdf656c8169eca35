// SPDX-License-Identifier: Apache-2.0

package examples

// HoldoutSet decides which examples of a pass are held out. The decision depends on the
// position only, so every pass holds out the same examples.
type HoldoutSet struct {
	On     bool
	Period int // hold out every Period-th example of a pass; unused if After is set
	After  int // hold out the examples after this one; 0: by Period
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
