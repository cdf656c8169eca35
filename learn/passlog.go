// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gvw-project/gvw/learn/metric"
)

// passLine is the line of --log_json for one pass. What is not known is left
// out, what is not defined is null.
type passLine struct {
	Pass     int                 `json:"pass"`
	Method   string              `json:"method"`
	Examples uint64              `json:"examples"` // of this pass, over all ranks
	Weight   float64             `json:"weight"`   // of the labelled ones
	Loss     *float64            `json:"loss"`     // their mean loss, each before it was learned from
	Holdout  *float64            `json:"holdout_loss,omitempty"`
	Metrics  map[string]*float64 `json:"metrics,omitempty"`
	Valid    map[string]*float64 `json:"valid,omitempty"` // loss and measures
	Best     bool                `json:"best,omitempty"`  // the best pass so far, by holdout or valid
	Stop     bool                `json:"stop,omitempty"`  // the last one, for want of a better
	Seconds  float64             `json:"seconds"`         // since the run began
}

// passed is what the log remembers of a pass that has just ended.
type passed struct {
	better, stop bool
	holdout      float64
	holdoutKnown bool
	before       Stats   // the sums when it began
	loss         float64 // mean training loss of the pass, each example's before it was learned from; NaN: not known
	best         int     // the pass with the best loss on --valid or the holdout set; 0: not known
	bestTraining float64 // loss of that pass
}

// endMeasures closes the measures of a pass; s.passes still counts the ones
// before.
func (s *session) endMeasures(better, stop bool) {
	h := &s.all.Stats.Holdout
	s.passed.better, s.passed.stop = better, stop
	s.passed.holdoutKnown = s.holdout.on && h.PassWeight > 0
	if s.passed.holdoutKnown {
		s.passed.holdout = h.PassLoss / h.PassWeight
	}
	s.measures.endPass(s.passes+1, better, stop)
}

// logPass tells people of the validation, and writes the line of the pass that
// has ended.
func (s *session) logPass(method string) error {
	v := s.valid
	if v != nil {
		if v.fresh {
			v.lines = fmt.Appendf(v.lines, "pass %d: validation loss = %.6f, %s = %s\n", s.passes, v.loss/v.weight, v.also, measured(v.all.Value(v.also)))
		}
		defer func() { v.fresh = false }()
		if !s.midLine {
			if err := s.sayValid(); err != nil {
				return err
			}
		}
	}
	now, before := s.all.Stats, s.passed.before
	s.passed.before = now
	s.passed.loss = (now.Loss - before.Loss) / (now.Labeled - before.Labeled)
	if s.passed.better {
		s.passed.best, s.passed.bestTraining = s.passes, s.passed.loss
	}
	if s.cfg.Metrics.PassLog == nil {
		return nil
	}
	line := passLine{
		Pass: s.passes, Method: method,
		Examples: now.Examples - before.Examples,
		Weight:   now.Labeled - before.Labeled,
		Loss:     number(s.passed.loss),
		Best:     s.passed.better, Stop: s.passed.stop,
		Seconds: time.Since(s.begun).Seconds(),
	}
	if s.passed.holdoutKnown {
		line.Holdout = number(s.passed.holdout)
	}
	if m := &s.measures; m.own != nil {
		line.Metrics = numbers(m.all)
	}
	if v != nil && v.fresh {
		line.Valid = numbers(v.all)
		line.Valid["loss"] = number(v.loss / v.weight)
	}
	text, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("cannot write the log of passes: %w", err)
	}
	_, err = s.cfg.Metrics.PassLog.Write(append(text, '\n'))
	return err
}

// sayValid tells what is left to tell of the validation.
func (s *session) sayValid() error {
	if s.valid == nil || len(s.valid.lines) == 0 {
		return nil
	}
	lines := s.valid.lines
	if s.midLine {
		lines = append([]byte("\n"), lines...)
	}
	s.valid.lines = nil
	return s.say(lines)
}

// numbers are the measures for JSON.
func numbers(sums *metric.Sums) map[string]*float64 {
	values := map[string]*float64{}
	for _, v := range sums.Values() {
		values[v.Name] = number(v.Value)
	}
	return values
}
