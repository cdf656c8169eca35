// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/loss"
)

// measures are the metrics of --metrics: over the held-out examples where there
// are any, else over all, each predicted before it is learned from; pass by
// pass, over all ranks.
type measures struct {
	scale   scale
	holdout bool         // only held-out examples are measured
	own     *metric.Sums // of this rank's examples, in the pass under way; nil: none
	all     *metric.Sums // of all ranks', after the pass

	last, best *result // of the last pass, and of the one with the best model
}

// result are the measures of a pass.
type result struct {
	Pass   int
	Values []metric.Value
	Curve  []metric.Bin // nil: calibration is not measured
}

func newMeasures(c *Config, holdout bool) (measures, error) {
	m := measures{holdout: holdout}
	if len(c.Metrics.Measures) == 0 && len(c.Holdout.Valid) == 0 {
		return m, nil
	}
	var err error
	if m.scale, err = newScale(c); err != nil {
		return m, err
	}
	if len(c.Metrics.Measures) > 0 {
		m.own, m.all = metric.NewSums(c.Metrics.Measures), metric.NewSums(c.Metrics.Measures)
	}
	return m, nil
}

// add measures an example of a pass.
func (m *measures) add(ex *feature.Example, held bool, clipped, prediction float32) {
	if m.counts(ex, held) {
		m.own.Add(m.scale.caseOf(ex, clipped, prediction))
	}
}

// counts reports whether an example of a pass is measured.
func (m *measures) counts(ex *feature.Example, held bool) bool {
	return m.own != nil && ex.Labeled() && ex.Weight > 0 && held == m.holdout
}

// share adds the sums of all ranks.
func (m *measures) share(ctx context.Context, g *allreduce.Group) error {
	if m.own == nil || g.Stream() {
		return nil // which are refused in a job with vw workers
	}
	if g.Size() == 1 {
		copy(m.all.Vector(), m.own.Vector())
		return nil
	}
	return g.AllReduceInto(ctx, allreduce.Vec(m.all.Vector()).Named("metrics"), allreduce.Vec(m.own.Vector()), allreduce.Sum)
}

// endPass notes the measures of the pass. better says that its weights are the
// best so far, stop that training goes back to those.
func (m *measures) endPass(pass int, better, stop bool) {
	if m.own == nil {
		return
	}
	r := &result{Pass: pass, Values: m.all.Values()}
	if m.all.Set().Has(metric.Calibration) {
		r.Curve = m.all.Curve()
	}
	m.own.Reset()
	m.last = r
	if better {
		m.best = r
	}
	if stop && m.best != nil {
		m.last = m.best
	}
}

// summary are the lines after vw's summary.
func (m *measures) summary() []byte {
	var b []byte
	if m.last == nil {
		return b
	}
	for _, v := range m.last.Values {
		b = fmt.Appendf(b, "%s = %s\n", v.Name, measured(v.Value))
	}
	return b
}

// measured is a measure as people read it.
func measured(v float64) string {
	if math.IsNaN(v) {
		return "n.a."
	}
	return fmt.Sprintf("%.6f", v)
}

// write writes the file of --metrics_file and returns its digest.
func (m *measures) write(out io.Writer) ([32]byte, error) {
	type bin struct {
		Above     float64  `json:"above"`
		UpTo      float64  `json:"up_to"`
		Weight    float64  `json:"weight"`
		Predicted *float64 `json:"predicted"`
		Positive  *float64 `json:"positive"`
	}
	file := struct {
		Pass    int                 `json:"pass"`
		Metrics map[string]*float64 `json:"metrics"`
		Curve   []bin               `json:"calibration_curve,omitempty"`
	}{Metrics: map[string]*float64{}}
	if r := m.last; r != nil {
		file.Pass = r.Pass
		for _, v := range r.Values {
			file.Metrics[v.Name] = number(v.Value)
		}
		for _, b := range r.Curve {
			file.Curve = append(file.Curve, bin{b.Above, b.UpTo, b.Weight, number(b.Predicted), number(b.Positive)})
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

// number is v for JSON, where what is no number is null.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// scale turns what the learner predicts into what is measured.
type scale struct {
	sigmoid       loss.Link // makes a probability of a score
	probabilities bool      // scores are those of a logistic model
}

func newScale(c *Config) (scale, error) {
	sigmoid, err := loss.NewLink("logistic")
	return scale{sigmoid, c.Loss.Function == "logistic" || c.Loss.Link == "logistic"}, err
}

// caseOf measures one example. prediction is what -p writes.
func (sc *scale) caseOf(ex *feature.Example, clipped, prediction float32) metric.Case {
	q := float32(math.NaN())
	if sc.probabilities {
		q = sc.sigmoid.Apply(clipped)
	}
	return metric.Case{Label: ex.Label, Weight: ex.Weight, Score: clipped, Prediction: prediction, Probability: q}
}

// validateMeasures looks whether what is to be measured can be.
func (c *Config) validateMeasures(fault func(option, format string, args ...any)) {
	if c.Metrics.File != "" && len(c.Metrics.Measures) == 0 {
		fault("--metrics_file", "it would be empty without --metrics")
	}
	if c.Metrics.Extra != "" && (c.Cluster.Join != nil || c.Hybrid != nil) {
		fault("--extra_metrics", "it counts the calls of one learner in one process: leave it out")
	}
	if c.Model.Initial == "" { // else the model says what is learned
		if err := c.checkMeasures(); err != nil {
			fault("", "%v", err)
		}
	}
	if len(c.Holdout.Valid) > 0 && c.TestOnly {
		fault("--valid", "nothing is learned: give the file by -d")
	}
}

// checkMeasures looks whether what is learned, when it is known, can be measured
// so.
func (c *Config) checkMeasures() error {
	var faults []error
	fault := func(text, name string) { faults = append(faults, usage("--metrics", text, name)) }
	if c.OAA.Classes > 0 {
		if m := c.Metrics.Measures.Single(); len(m) > 0 {
			fault("%s is a measure of one score, and --oaa chooses one of several classes: it has logloss and accuracy", m[0])
		}
		if c.Metrics.Measures.Has(metric.LogLoss) && !c.OAA.Probabilities {
			fault("%s needs probabilities: with --oaa give --probabilities", metric.LogLoss)
		}
		return errors.Join(faults...)
	}
	if m := c.Metrics.Measures.Probabilities(); len(m) > 0 && c.Loss.Function != "logistic" && c.Loss.Link != "logistic" {
		fault("%s needs probabilities: --loss_function logistic or --link logistic", m[0])
	}
	if m := c.Metrics.Measures.Signs(); len(m) > 0 && c.Loss.Function != "logistic" && c.Loss.Function != "hinge" && c.Loss.Link != "logistic" && !c.Loss.Binary {
		fault("%s needs two classes: --loss_function logistic or hinge, --link logistic or --binary", m[0])
	}
	return errors.Join(faults...)
}
