// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"fmt"
	"math"

	"github.com/gvw-project/gvw/learn/internal/vwtext"
)

// TrainingSummary returns the lines that gvw adds to vw's summary where the average loss does
// not describe the model. With --hybrid that average includes the passes of SGD. With --valid
// the best pass may not be the last one.
func (t *Tally) TrainingSummary(hybrid bool) []byte {
	var b []byte
	p := &t.Passed
	if v := t.Valid; v != nil && v.stop.Known && p.best > 0 {
		b = fmt.Appendf(b, "best pass = %d, validation loss = %s", p.best, vwtext.FormatMean(v.stop.Best))
		if !p.stop && p.best < t.Passes {
			b = append(b, " (the model is that of the last pass)"...)
		}
		b = append(b, '\n')
	}
	if !hybrid {
		return b
	}
	switch {
	case p.stop && p.best > 0:
		b = appendTraining(b, p.bestTraining, p.best, "")
	case !p.stop:
		b = appendTraining(b, p.loss, t.Passes, ", before its last step")
	}
	return b
}

// appendTraining appends the mean loss over the training examples in a pass of L-BFGS.
func appendTraining(b []byte, mean float64, pass int, when string) []byte {
	if math.IsNaN(mean) {
		return b // no labels, or another process has done the pass
	}
	return fmt.Appendf(b, "training loss of the model = %s (pass %d%s)\n", vwtext.FormatMean(mean), pass, when)
}
