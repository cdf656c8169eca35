// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"math"

	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// EarlyStop ends training that no longer improves on the holdout or the validation set.
type EarlyStop struct {
	On       bool
	Patience int // passes without a better loss before the end

	Best    float64 // the best mean loss of a pass; meaningless while known is false
	Known   bool
	Begun   bool // a pass was compared
	without int  // passes since
}

// reset forgets the passes so far.
func (e *EarlyStop) reset() { *e = EarlyStop{On: e.On, Patience: e.Patience} }

// meanLoss is a mean as vw keeps it, in a float32.
func meanLoss(loss, weight float64) float64 { return float64(float32(loss / weight)) }

// endPass compares the pass's mean loss with the best one so far.
func (e *EarlyStop) endPass(loss, weight float64) (better, stop bool) {
	if !e.On {
		return false, false
	}
	mean := float64(math.MaxFloat32) / 2 // vw's, where nothing was held out
	if weight > 0 {
		mean = meanLoss(loss, weight)
	}
	if !e.Begun || mean < e.Best {
		e.Best, e.Begun, e.without = mean, true, 0
		e.Known = weight > 0
		return true, false
	}
	e.without++
	return false, e.without >= e.Patience
}

func (e *EarlyStop) code(c *snapshot.Coder) {
	c.F64("best holdout loss", &e.Best)
	c.Flag("holdout loss known", &e.Known)
	c.Flag("holdout begun", &e.Begun)
	c.Number("passes without a better loss", &e.without, snapshot.MaxCount)
}
