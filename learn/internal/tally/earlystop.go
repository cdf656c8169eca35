// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"math"

	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// EarlyStop ends training when the loss on the holdout or the validation set no longer
// improves. It follows vw's summarize_holdout_set.
type EarlyStop struct {
	On       bool
	Patience int // passes without a better loss after which training ends (--early_terminate)

	Best    float64 // best mean loss of a pass; valid if Known
	Known   bool    // the best pass had examples to measure
	Begun   bool    // a pass has been compared
	without int     // passes since the best one
}

// reset forgets the passes so far.
func (e *EarlyStop) reset() { *e = EarlyStop{On: e.On, Patience: e.Patience} }

// meanLoss returns a mean rounded to float32, as vw keeps it. The rounding decides whether a
// pass counts as better.
func meanLoss(loss, weight float64) float64 { return float64(float32(loss / weight)) }

// endPass compares the pass's mean loss with the best one so far.
func (e *EarlyStop) endPass(loss, weight float64) (better, stop bool) {
	if !e.On {
		return false, false
	}
	mean := float64(math.MaxFloat32) / 2 // vw's value if nothing was held out
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

// code codes the passes so far.
func (e *EarlyStop) code(c *snapshot.Coder) {
	c.F64("best holdout loss", &e.Best)
	c.Flag("holdout loss known", &e.Known)
	c.Flag("holdout begun", &e.Begun)
	c.Number("passes without a better loss", &e.without, snapshot.MaxCount)
}
