// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/gvw-project/gvw/internal/fmath"
	"github.com/gvw-project/gvw/learn/internal/vwtext"
	"github.com/gvw-project/gvw/learn/metric"
)

// PassLine is the line of --log_json for one pass. Unknown values are left out; undefined ones
// are null.
type PassLine struct {
	Pass     int                 `json:"pass"`
	Method   string              `json:"method"`
	Examples uint64              `json:"examples"` // of this pass, over all ranks
	Weight   *float64            `json:"weight"`   // of the labelled ones
	Loss     *float64            `json:"loss"`     // their mean loss, each measured before the example is learned from
	Holdout  *float64            `json:"holdout_loss,omitempty"`
	Metrics  map[string]*float64 `json:"metrics,omitempty"`
	Valid    map[string]*float64 `json:"valid,omitempty"` // loss and measures
	Best     bool                `json:"best,omitempty"`  // the best pass so far, by holdout or validation loss
	Stop     bool                `json:"stop,omitempty"`  // the pass that has stopped training early
	Seconds  float64             `json:"seconds"`         // since the run began
}

// PassLog has the figures of the pass that has just ended, and writes the line of --log_json.
type PassLog struct {
	Out   io.Writer // nil: no lines are written
	Begun time.Time // of the run

	better, stop bool
	holdout      float64
	holdoutKnown bool
	before       vwtext.Stats // the sums at its start
	loss         float64      // mean training loss of the pass, measured before learning; NaN: unknown
	best         int          // pass with the best loss on --valid or the holdout set; 0: unknown
	bestTraining float64      // its training loss
}

// endPass stores the figures of the pass. h has the sums over held-out examples; holdout
// reports whether there are any.
func (p *PassLog) endPass(better, stop, holdout bool, h *vwtext.Holdout) {
	p.better, p.stop = better, stop
	p.holdoutKnown = holdout && h.PassWeight > 0
	if p.holdoutKnown {
		p.holdout = h.PassLoss / h.PassWeight
	}
}

// adopt continues from the sums of passes that other processes have done.
func (p *PassLog) adopt(all vwtext.Stats) {
	p.before = all
	p.loss, p.best = math.NaN(), 0
}

// close computes the training loss of the pass from the difference of two running sums, since
// vw keeps no sums per pass. It returns the sums at the start of the pass.
func (p *PassLog) close(pass int, now vwtext.Stats) (before vwtext.Stats) {
	before, p.before = p.before, now
	p.loss = (now.Loss - before.Loss) / (now.Labeled - before.Labeled)
	if p.better {
		p.best, p.bestTraining = pass, p.loss
	}
	return before
}

// logPass prints the line on the validation, and writes the log line of the pass that has
// ended.
func (t *Tally) logPass(method string) error {
	v := t.Valid
	if v != nil {
		if v.fresh && v.tokens {
			v.lines = fmt.Appendf(v.lines, "pass %d: validation perplexity = %.2f\n", t.Passes, v.perplexity())
		} else if v.fresh {
			v.lines = fmt.Appendf(v.lines, "pass %d: validation loss = %.6f, %s = %s\n", t.Passes, v.loss/v.weight, v.also, measured(v.all.Value(v.also)))
		}
		defer func() { v.fresh = false }()
		if !t.Console.MidLine {
			if err := t.PrintValid(); err != nil {
				return err
			}
		}
	}
	p, now := &t.Passed, t.Job.All.Stats
	before := p.close(t.Passes, now)
	if p.Out == nil {
		return nil
	}
	line := PassLine{
		Pass: t.Passes, Method: method,
		Examples: now.Examples - before.Examples,
		Weight:   number(now.Labeled - before.Labeled),
		Loss:     number(p.loss),
		Best:     p.better, Stop: p.stop,
		Seconds: time.Since(p.Begun).Seconds(),
	}
	if p.holdoutKnown {
		line.Holdout = number(p.holdout)
	}
	if m := &t.Measures; m.Own != nil {
		line.Metrics = numbers(m.all)
	}
	if v != nil && v.fresh {
		line.Valid = numbers(v.all)
		line.Valid["loss"] = number(v.loss / v.weight)
		if v.tokens {
			line.Valid["perplexity"] = number(v.perplexity())
		}
	}
	text, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("cannot write the log of passes: %w", err)
	}
	_, err = p.Out.Write(append(text, '\n'))
	return err
}

// perplexity returns the perplexity of the predicted tokens of documents.
func (v *Validation) perplexity() float64 { return fmath.Exp(v.loss / v.weight) }

// PrintValid prints the lines on the validation set. They wait while the solver's trace is in the
// middle of a line.
func (t *Tally) PrintValid() error {
	if t.Valid == nil || len(t.Valid.lines) == 0 {
		return nil
	}
	lines := t.Valid.lines
	if t.Console.MidLine {
		lines = append([]byte("\n"), lines...)
	}
	t.Valid.lines = nil
	return t.Console.Print(lines)
}

// numbers returns the measures in the form of the log.
func numbers(sums *metric.Sums) map[string]*float64 {
	values := map[string]*float64{}
	for _, v := range sums.Values() {
		values[v.Name] = number(v.Value)
	}
	return values
}
