// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/loss"
)

// Measures has the metrics of --metrics for each pass, over all ranks. They measure the
// held-out examples if there are any, and otherwise all examples, each before it is learned
// from.
type Measures struct {
	scale   scale
	holdout bool         // only held-out examples are measured
	Own     *metric.Sums // over this rank's examples in the current pass; nil: no measures
	all     *metric.Sums // over all ranks' examples, after the pass

	Last, best *result // of the last pass, and of the pass with the best model
}

// NewMeasures returns the measures of a set, which may be empty. probabilities means that
// scores are those of a logistic model, holdout that only held-out examples are measured.
func NewMeasures(set metric.Set, probabilities, holdout bool) (Measures, error) {
	sigmoid, err := loss.NewLink("logistic")
	m := Measures{scale: scale{sigmoid, probabilities}, holdout: holdout}
	if len(set) > 0 {
		m.Own, m.all = metric.NewSums(set), metric.NewSums(set)
	}
	return m, err
}

// result has the measures of one pass.
type result struct {
	Pass   int
	Values []metric.Value
	Curve  []metric.Bin // nil: calibration is not measured
}

// add measures an example of a pass.
func (m *Measures) add(ex *feature.Example, held bool, clipped, prediction float32) {
	if m.Counts(ex, held) {
		m.Own.Add(m.scale.caseOf(ex, clipped, prediction))
	}
}

// Counts reports whether an example of a pass is measured.
func (m *Measures) Counts(ex *feature.Example, held bool) bool {
	return m.Own != nil && ex.Labeled() && ex.Weight > 0 && held == m.holdout
}

// share adds the sums of all ranks.
func (m *Measures) share(ctx context.Context, g *allreduce.Group) error {
	if m.Own == nil || g.Stream() {
		return nil // measures are refused in a job with vw workers
	}
	if g.Size() == 1 {
		copy(m.all.Vector(), m.Own.Vector())
		return nil
	}
	return g.AllReduceInto(ctx, allreduce.Vec(m.all.Vector()).Named("metrics"), allreduce.Vec(m.Own.Vector()), allreduce.Sum)
}

// begin forgets the sums of a pass.
func (m *Measures) begin() {
	if m.Own != nil {
		m.Own.Reset()
	}
}

// keepOwn makes the sums of this rank those of all, for a pass without the other ranks. restoreOwn is its inverse,
// so that the sums can be shared later.
func (m *Measures) keepOwn() {
	if m.Own != nil {
		copy(m.all.Vector(), m.Own.Vector())
	}
}

func (m *Measures) restoreOwn() {
	if m.Own != nil {
		copy(m.Own.Vector(), m.all.Vector())
	}
}

// endPass stores the measures of the pass. better means that its weights are the best so far,
// stop that training returns to these.
func (m *Measures) endPass(pass int, better, stop bool) {
	if m.Own == nil {
		return
	}
	r := &result{Pass: pass, Values: m.all.Values()}
	if m.all.Set().Has(metric.Calibration) {
		r.Curve = m.all.Curve()
	}
	m.Own.Reset()
	m.Last = r
	if better {
		m.best = r
	}
	// The final model has the weights of the best pass, and so its measures.
	if stop && m.best != nil {
		m.Last = m.best
	}
}

// Summary returns the lines after vw's summary.
func (m *Measures) Summary() []byte {
	var b []byte
	if m.Last == nil {
		return b
	}
	for _, v := range m.Last.Values {
		b = fmt.Appendf(b, "%s = %s\n", v.Name, measured(v.Value))
	}
	return b
}

// measured formats a measure for people.
func measured(v float64) string {
	if math.IsNaN(v) {
		return "n.a."
	}
	return fmt.Sprintf("%.6f", v)
}

// Write writes the file of --metrics_file and returns its digest.
func (m *Measures) Write(out io.Writer) ([32]byte, error) {
	type bin struct {
		Above     float64  `json:"above"`
		UpTo      float64  `json:"up_to"`
		Weight    *float64 `json:"weight"`
		Predicted *float64 `json:"predicted"`
		Positive  *float64 `json:"positive"`
	}
	file := struct {
		Pass    int                 `json:"pass"`
		Metrics map[string]*float64 `json:"metrics"`
		Curve   []bin               `json:"calibration_curve,omitempty"`
	}{Metrics: map[string]*float64{}}
	if r := m.Last; r != nil {
		file.Pass = r.Pass
		for _, v := range r.Values {
			file.Metrics[v.Name] = number(v.Value)
		}
		for _, b := range r.Curve {
			file.Curve = append(file.Curve, bin{b.Above, b.UpTo, number(b.Weight), number(b.Predicted), number(b.Positive)})
		}
	}
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return [32]byte{}, fmt.Errorf("cannot write the metrics: %w", err)
	}
	text = append(text, '\n')
	if _, err := out.Write(text); err != nil {
		return [32]byte{}, err
	}
	return sha256.Sum256(text), nil
}

// number returns v for JSON, where infinities and NaN are null.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// scale converts the predictions of the learner to the values that are measured.
type scale struct {
	sigmoid       loss.Link // maps a score to a probability
	probabilities bool      // scores are those of a logistic model
}

// caseOf returns the case of one example. prediction is the value that -p writes.
func (sc *scale) caseOf(ex *feature.Example, clipped, prediction float32) metric.Case {
	q := float32(math.NaN())
	if sc.probabilities {
		q = sc.sigmoid.Apply(clipped)
	}
	return metric.Case{Label: ex.Label, Weight: ex.Weight, Score: clipped, Prediction: prediction, Probability: q}
}

// Limits for the counts in a state.
const (
	maxMeasures = 64
	maxName     = 64
	maxBins     = 1 << 10
)

// codeResult codes the measures of a pass, if there are any.
func codeResult(c *snapshot.Coder, r **result) {
	there := *r != nil
	if c.Flag("measures", &there); !there {
		*r = nil
		return
	}
	if c.Reading() {
		*r = &result{}
	}
	v := *r
	c.Number("pass of the measures", &v.Pass, snapshot.MaxCount)
	n := len(v.Values)
	if c.Number("number of measures", &n, maxMeasures); c.Reading() {
		v.Values = make([]metric.Value, n)
	}
	for i := range v.Values {
		c.Text("name of a measure", &v.Values[i].Name, maxName)
		c.F64("measure", &v.Values[i].Value)
	}
	n = len(v.Curve)
	if c.Number("bins of the calibration", &n, maxBins); c.Reading() && n > 0 {
		v.Curve = make([]metric.Bin, n)
	}
	for i := range v.Curve {
		b := &v.Curve[i]
		for _, x := range []*float64{&b.Above, &b.UpTo, &b.Weight, &b.Predicted, &b.Positive} {
			c.F64("calibration", x)
		}
	}
}
