// SPDX-License-Identifier: Apache-2.0

package learn

import "math"

// holdout decides which examples are held out, and when training has stopped
// to improve on them.
type holdout struct {
	on       bool
	period   int // every period-th example of a pass is held out; with after: unused
	after    int // examples after this one are held out; 0: by period
	patience int // passes without a better loss before the end

	best    float64 // the best mean loss of a pass; meaningless while known is false
	known   bool
	begun   bool // a pass was compared
	without int  // passes since
}

func newHoldout(c *Config) holdout {
	return holdout{
		on:       !c.Holdout.Off && (c.Passes > 1 || c.Hybrid != nil || c.Holdout.After > 0),
		period:   c.Holdout.Period,
		after:    c.Holdout.After,
		patience: c.Holdout.EarlyTerminate,
	}
}

// held reports whether the n-th example of a pass (from 1) is held out.
func (h *holdout) held(n int) bool {
	if !h.on {
		return false
	}
	if h.after > 0 {
		return n > h.after
	}
	return n%h.period == 0
}

// meanLoss is a mean as vw keeps it, in a float32.
func meanLoss(loss, weight float64) float64 { return float64(float32(loss / weight)) }

// endPass compares the pass's mean holdout loss with the best one so far.
func (h *holdout) endPass(loss, weight float64) (better, stop bool) {
	if !h.on {
		return false, false
	}
	mean := float64(math.MaxFloat32) / 2 // vw's, where nothing was held out
	if weight > 0 {
		mean = meanLoss(loss, weight)
	}
	if !h.begun || mean < h.best {
		h.best, h.begun, h.without = mean, true, 0
		h.known = weight > 0
		return true, false
	}
	h.without++
	return false, h.without >= h.patience
}
