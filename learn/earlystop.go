// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"math"

	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// earlyStop ends training that no longer improves on the holdout or the validation set.
type earlyStop struct {
	on       bool
	patience int // passes without a better loss before the end

	best    float64 // the best mean loss of a pass; meaningless while known is false
	known   bool
	begun   bool // a pass was compared
	without int  // passes since
}

// reset forgets the passes so far.
func (e *earlyStop) reset() { *e = earlyStop{on: e.on, patience: e.patience} }

// meanLoss is a mean as vw keeps it, in a float32.
func meanLoss(loss, weight float64) float64 { return float64(float32(loss / weight)) }

// endPass compares the pass's mean loss with the best one so far.
func (e *earlyStop) endPass(loss, weight float64) (better, stop bool) {
	if !e.on {
		return false, false
	}
	mean := float64(math.MaxFloat32) / 2 // vw's, where nothing was held out
	if weight > 0 {
		mean = meanLoss(loss, weight)
	}
	if !e.begun || mean < e.best {
		e.best, e.begun, e.without = mean, true, 0
		e.known = weight > 0
		return true, false
	}
	e.without++
	return false, e.without >= e.patience
}

func (e *earlyStop) code(c *snapshot.Coder) {
	c.F64("best holdout loss", &e.best)
	c.Flag("holdout loss known", &e.known)
	c.Flag("holdout begun", &e.begun)
	c.Number("passes without a better loss", &e.without, snapshot.MaxCount)
}
