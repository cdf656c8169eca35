// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// banner is the list of settings that vw prints before it starts, one line each. Programs that
// parse the output of vw read it, so its words and its order are those of vw 9.11.9.
type banner []string

// addf adds a line.
func (b *banner) addf(format string, args ...any) { *b = append(*b, fmt.Sprintf(format, args...)) }

// print writes all lines at once. A nil writer means that the run is quiet.
func (b banner) print(w io.Writer) error {
	if w == nil {
		return nil
	}
	_, err := io.WriteString(w, strings.Join(b, "\n")+"\n")
	return err
}

// banner returns the settings of the run in the order of vw: namespaces, the options of the
// learners, the data, the learning rate and the stack of learners.
func (r *runner) banner() banner {
	var b banner
	c := &r.cfg
	c.Features.Namespaces.BannerLines(b.addf)
	if c.TestOnly {
		b.addf("only testing")
	}
	if c.OAA.NamedLabels != "" {
		b.addf("parsed %d named labels", strings.Count(c.OAA.NamedLabels, ",")+1)
	}
	if c.Reg.L1 != 0 {
		b.addf("using l1 regularization = %g", float32(c.Reg.L1))
	}
	if c.Reg.L2 != 0 {
		b.addf("using l2 regularization = %g", float32(c.Reg.L2))
	}
	if c.Model.Final != "" {
		b.addf("final_regressor = %s", c.Model.Final)
	}
	if c.Output.Predictions != "" {
		b.addf("predictions = %s", c.Output.Predictions)
	}
	if c.Output.RawPredictions != "" {
		b.addf("raw predictions = %s", c.Output.RawPredictions)
	}
	for _, s := range c.Learner.learners() {
		if s.Banner != nil {
			b.addf("%s", s.Banner(c.Learner.Options))
		}
	}
	// vw names the bottom learner first in the stack that "Enabled learners" lists below.
	learner := "gd"
	if c.Batch.BFGS && c.Hybrid == nil {
		learner = "bfgs"
		c.batchBanner(&b)
	}
	if c.FTRL.Rule != ftrl.None {
		learner = r.followBanner(&b)
	}
	if r.unheld {
		b.addf("Making holdout_set_off=true since output regularizer specified")
	}
	// The plan names the source of the passes, text or cache. vw names the file only when it
	// reads text.
	b.addf("%s", r.read.Data.Plan())
	if len(c.Data.Inputs) > 0 && r.read.Data.ReadsText() {
		names := make([]string, len(c.Data.Inputs))
		for i, in := range c.Data.Inputs {
			names[i] = in.Name
		}
		b.addf("Reading datafile = %s", strings.Join(names, ", "))
	}
	sources := max(1, len(c.Data.Inputs)) // a cache is one
	if len(c.Data.Inputs) == 1 && c.Data.Inputs[0].None {
		sources = 0
	}
	b.addf("num sources = %d", sources)
	b.addf("Num weight bits = %d", c.Features.Bits)
	rate := r.rule.LearningRate
	if c.LDA.Topics > 0 {
		rate = c.ldaRate()
	}
	b.addf("learning rate = %.6g", rate)
	b.addf("initial_t = %.6g", r.startT())
	b.addf("power_t = %.6g", r.rule.PowerT)
	if c.Passes > 1 || c.Hybrid != nil {
		b.addf("decay_learning_rate = %.6g", c.SGD.DecayLearningRate)
	}
	b = append(b, c.Features.Namespaces.DictionaryLines...)
	names, label, prediction := r.stack(learner)
	b.addf("Enabled learners: %s", names)
	b.addf("Input label = %s", label)
	b.addf("Output pred = %s", prediction)
	return b
}

// stack returns the names of the learners, from the bottom one to the top, and the kinds of label and prediction. learner
// is the bottom one unless a composed learner has an update rule of its own.
func (r *runner) stack(learner string) (names, label, prediction string) {
	c := &r.cfg
	if c.LDA.Topics > 0 {
		if c.LDA.Batch > 1 {
			return "lda", "NOLABEL", "NOPRED"
		}
		return "lda", "NOLABEL", "SCALARS"
	}
	label, prediction = "SIMPLE", "SCALAR"
	switch c.labels() {
	case feature.ClassLabels:
		label, prediction = "MULTICLASS", "MULTICLASS"
	case feature.CostLabels:
		label, prediction = "CS", "MULTICLASS"
	case feature.MultiLabels:
		label, prediction = "MULTILABEL", "MULTILABELS"
	}
	stack := "scorer-" + c.Loss.Link
	for _, s := range c.Learner.learners() {
		name := s.Name
		if s.Variant != nil {
			name += s.Variant(c.Learner.Options)
		}
		switch {
		case s.Bottom:
			learner = name
		case s.Above:
			stack += ", " + name
		default:
			stack = name + ", " + stack
		}
	}
	// A wildcard in an interaction makes vw expand interactions per example.
	if slices.ContainsFunc(c.Features.Namespaces.Crossed(), func(set string) bool { return strings.Contains(set, ":") }) {
		stack = "generate_interactions, " + stack
	}
	if c.OAA.Classes > 0 {
		stack += ", oaa"
		switch {
		case c.OAA.Probabilities:
			stack, prediction = stack+"-prob", "SCALARS"
		case c.OAA.Scores:
			stack, prediction = stack+"-scores", "SCALARS"
		case c.Output.RawPredictions != "":
			stack += "-raw"
		}
	}
	if c.Loss.Binary {
		stack += ", binary"
	}
	switch {
	case len(c.Data.ClassWeights) == 0:
	case c.OAA.Classes > 0:
		stack += ", classweight-multi"
	default:
		stack += ", classweight-scalar"
	}
	if c.Metrics.Extra != "" {
		stack += ", extra_metrics"
	}
	if c.labels() == feature.SimpleLabels && !c.Diagnostics.NoBestConstant {
		stack += ", count_label"
	}
	return learner + ", " + stack, label, prediction
}

// startT returns the t at which training starts: that of the loaded model, or --initial_t.
func (r *runner) startT() float64 {
	if r.initial != nil && r.initial.resume {
		return r.initial.base.T
	}
	return float64(r.rule.InitialT)
}

// batchBanner adds the lines of a batch solver, which a test does not have.
func (c *Config) batchBanner(b *banner) {
	if c.TestOnly {
		return
	}
	with := "**without** curvature calculation"
	if c.mixes() || c.Batch.HessianOn {
		with = "with curvature calculation"
	}
	if c.mixes() {
		b.addf("enabling conjugate gradient optimization via BFGS %s", with)
	} else {
		b.addf("enabling BFGS based optimization %s", with)
	}
	b.addf("%s", strings.TrimSuffix(string(optim.AppendHeader(nil)), "\n"))
}

// followBanner adds the lines of the FTRL family, and returns the name of the learner.
func (r *runner) followBanner(b *banner) string {
	c := &r.cfg
	name := followerNames[c.FTRL.Rule]
	if c.FTRL.Rule == ftrl.FreeGrad {
		b.addf("Enabling FreeGrad based optimization")
		b.addf("Algorithm used: %s", name)
		return c.followerLearner()
	}
	alpha, beta := c.ftrlNumbers()
	b.addf("Enabling FTRL based optimization")
	b.addf("Algorithm used: %s", name)
	b.addf("ftrl_alpha = %.6g", alpha)
	b.addf("ftrl_beta = %.6g", beta)
	return c.followerLearner()
}
