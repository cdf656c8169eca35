// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// banner is the list of settings that vw prints before it starts.
type banner []string

func (b *banner) addf(format string, args ...any) { *b = append(*b, fmt.Sprintf(format, args...)) }

func (b banner) print(w io.Writer) error {
	if w == nil {
		return nil
	}
	_, err := io.WriteString(w, strings.Join(b, "\n")+"\n")
	return err
}

// banner says what is about to happen, in vw's words and order.
func (r *runner) banner() banner {
	var b banner
	c := &r.session.cfg
	c.Namespaces.say(&b)
	if c.TestOnly {
		b.addf("only testing")
	}
	if c.NamedLabels != "" {
		b.addf("parsed %d named labels", strings.Count(c.NamedLabels, ",")+1)
	}
	if c.L1 != 0 {
		b.addf("using l1 regularization = %g", float32(c.L1))
	}
	if c.L2 != 0 {
		b.addf("using l2 regularization = %g", float32(c.L2))
	}
	if c.FinalModel != "" {
		b.addf("final_regressor = %s", c.FinalModel)
	}
	if c.Predictions != "" {
		b.addf("predictions = %s", c.Predictions)
	}
	if c.RawPredictions != "" {
		b.addf("raw predictions = %s", c.RawPredictions)
	}
	learner := "gd"
	if c.BFGS && c.Hybrid == nil {
		learner = "bfgs"
		if !c.TestOnly {
			with := "**without** curvature calculation"
			if c.mixes() || c.HessianOn {
				with = "with curvature calculation"
			}
			if c.mixes() {
				b.addf("enabling conjugate gradient optimization via BFGS %s", with)
			} else {
				b.addf("enabling BFGS based optimization %s", with)
			}
			b.addf("%s", strings.TrimSuffix(string(optim.AppendHeader(nil)), "\n"))
		}
	}
	if c.FTRL != ftrl.None {
		learner = r.followBanner(&b)
	}
	if r.unheld {
		b.addf("Making holdout_set_off=true since output regularizer specified")
	}
	b.addf("%s", r.session.data.Plan())
	if len(c.Inputs) > 0 && r.session.data.ReadsText() {
		names := make([]string, len(c.Inputs))
		for i, in := range c.Inputs {
			names[i] = in.Name
		}
		b.addf("Reading datafile = %s", strings.Join(names, ", "))
	}
	sources := max(1, len(c.Inputs)) // a cache is one
	if len(c.Inputs) == 1 && c.Inputs[0].None {
		sources = 0
	}
	b.addf("num sources = %d", sources)
	b.addf("Num weight bits = %d", c.Bits)
	b.addf("learning rate = %.6g", r.rule.LearningRate)
	b.addf("initial_t = %.6g", r.startT())
	b.addf("power_t = %.6g", r.rule.PowerT)
	if c.Passes > 1 || c.Hybrid != nil {
		b.addf("decay_learning_rate = %.6g", c.DecayLearningRate)
	}
	b = append(b, c.Namespaces.DictionaryLines...)
	label, prediction := "SIMPLE", "SCALAR"
	link := "scorer-" + c.Link
	if slices.ContainsFunc(c.Namespaces.crossed(), func(set string) bool { return strings.Contains(set, ":") }) {
		link = "generate_interactions, " + link
	}
	if c.OAA > 0 {
		label, prediction = "MULTICLASS", "MULTICLASS"
		link += ", oaa"
		switch {
		case c.Probabilities:
			link, prediction = link+"-prob", "SCALARS"
		case c.Scores:
			link, prediction = link+"-scores", "SCALARS"
		case c.RawPredictions != "":
			link += "-raw"
		}
	}
	if c.Binary {
		link += ", binary"
	}
	switch {
	case len(c.ClassWeights) == 0:
	case c.OAA > 0:
		link += ", classweight-multi"
	default:
		link += ", classweight-scalar"
	}
	if c.ExtraMetrics != "" {
		link += ", extra_metrics"
	}
	if c.OAA == 0 && !c.NoBestConstant {
		link += ", count_label"
	}
	b.addf("Enabled learners: %s, %s", learner, link)
	b.addf("Input label = %s", label)
	b.addf("Output pred = %s", prediction)
	return b
}

// startT is the t at which training starts: the loaded model's, or --initial_t.
func (r *runner) startT() float64 {
	if r.initial != nil && r.initial.resume {
		return r.initial.base.T
	}
	return float64(r.rule.InitialT)
}
