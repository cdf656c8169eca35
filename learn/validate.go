// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"strings"

	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/optim/lbfgs"
)

// withDefaults fills what the caller left at zero.
func (c Config) withDefaults() Config {
	if !c.given.known {
		h := c.Holdout
		c.given = given{
			known: true,
			bits:  c.Features.Bits != 0, loss: c.Loss.Function != "", link: c.Loss.Link != "",
			holdout: h.Off || h.Period != 0 || h.After != 0 || h.EarlyTerminate != 0,
		}
	}
	if c.Features.Bits == 0 {
		c.Features.Bits = 18
	}
	if c.Passes == 0 {
		c.Passes = 1
	}
	if c.Holdout.Period == 0 {
		c.Holdout.Period = 10
	}
	if c.Holdout.EarlyTerminate == 0 {
		c.Holdout.EarlyTerminate = 3
	}
	if c.SGD.DecayLearningRate == 0 {
		c.SGD.DecayLearningRate = 1
	}
	if c.Loss.Function == "" {
		c.Loss.Function = "squared"
	}
	if c.Loss.Link == "" {
		c.Loss.Link = "identity"
	}
	if c.Batch.ConjugateGradient {
		c.Batch.BFGS, c.Batch.Mem = c.Hybrid == nil, Some(0)
		c.Batch.Termination.Set = true // at what it is: 0 if not given
	}
	if !c.Batch.Mem.Set {
		c.Batch.Mem.Value = lbfgs.DefaultMem
	}
	if !c.Batch.Termination.Set {
		c.Batch.Termination.Value = descent.DefaultTermination
	}
	return c
}

// predictedPasses is of how many passes -p and -r have predictions, at most.
func (c *Config) predictedPasses() int {
	if c.Hybrid != nil {
		return c.Hybrid.SGDPasses
	}
	return c.Passes
}

// Validate reports every fault of the configuration at once.
func (c *Config) Validate() error {
	var faults []error
	fault := func(option, format string, args ...any) {
		faults = append(faults, usage(option, format, args...))
	}
	d := c.withDefaults()
	if d.Features.Bits < 1 || d.Features.Bits > 32 {
		fault("--bit_precision", "%d bits: gvw keeps 2^b weights with b from 1 to 32", d.Features.Bits)
	}
	if d.Passes < 1 {
		fault("--passes", "%d passes: at least one is needed", d.Passes)
	}
	if d.Holdout.Period < 1 {
		fault("--holdout_period", "every %d-th example cannot be held out", d.Holdout.Period)
	}
	if d.Holdout.After < 0 {
		fault("--holdout_after", "%d is no number of examples", d.Holdout.After)
	}
	if d.Holdout.EarlyTerminate < 1 {
		fault("--early_terminate", "%d passes: at least one is needed", d.Holdout.EarlyTerminate)
	}
	d.validateFormat(fault)
	if d.Reg.L1 < 0 {
		fault("--l1", "%g is negative", d.Reg.L1)
	}
	if d.Reg.L2 < 0 {
		fault("--l2", "%g is negative", d.Reg.L2)
	}
	if d.Reg.SGDL2 < 0 {
		fault("--sgd_l2", "%g is negative", d.Reg.SGDL2)
	}
	if _, err := d.updateRule(); err != nil {
		fault("", "%s", strings.TrimPrefix(err.Error(), "sgd: "))
	}
	d.validateClasses(fault)
	d.validateFTRL(fault)
	if d.Data.Examples < 0 {
		fault("--examples", "%d is no number of examples", d.Data.Examples)
	}
	if d.Data.Examples > 0 && d.Cluster.Join != nil {
		fault("--examples", "on a cluster every rank would have first ones of its own: cut the data instead")
	}
	if d.Data.PassLength < 0 {
		fault("--initial_pass_length", "%d is no number of examples", d.Data.PassLength)
	}
	if d.Data.PassLength > 0 && (d.Cluster.Join != nil || d.Batch.BFGS || d.Hybrid != nil || d.Data.Shuffle) {
		fault("--initial_pass_length", "it is for SGD in one process, in the order of the data: leave it out")
	}
	if d.Model.SavePerPass && d.Hybrid != nil {
		fault("--save_per_pass", "the passes of a hybrid are of two learners: run --passes and --bfgs one after the other")
	}
	if d.Model.PreserveCounters && d.Model.Initial != "" && (d.Cluster.Join != nil || d.Hybrid != nil) {
		fault("--preserve_performance_counters", "it is for one learner in one process: on a cluster the sums of the model would count once a rank")
	}
	if _, err := d.newLoss(); err != nil {
		fault("--loss_function", "%v", err)
	}
	if d.Loss.MinPrediction.Set && d.Loss.MaxPrediction.Set && d.Loss.MinPrediction.Value > d.Loss.MaxPrediction.Value {
		fault("--min_prediction", "%g is above --max_prediction %g", d.Loss.MinPrediction.Value, d.Loss.MaxPrediction.Value)
	}
	if _, err := loss.NewLink(d.Loss.Link); err != nil {
		fault("--link", "%v", err)
	}
	d.validateNames(fault)
	d.Features.Namespaces.validate(fault)
	if err := d.Features.Namespaces.values(); err != nil {
		fault("", "%v", err)
	}
	if len(d.Data.Inputs) == 0 && d.Data.Cache == "" {
		fault("--data", "there is nothing to read: give -d FILE, a cache, or text on stdin")
	}
	if d.TestOnly && (d.Batch.BFGS || d.Hybrid != nil) && d.Model.Open == nil {
		fault("--testonly", "nothing to test: give the model with -i")
	}
	if d.Hybrid != nil {
		if d.Batch.BFGS {
			fault("--hybrid", "it runs L-BFGS by itself: leave --bfgs out")
		}
		if d.Hybrid.SGDPasses < 1 || d.Hybrid.LBFGSPasses < 2 {
			fault("--hybrid", "%d:%d: at least 1 pass of SGD and 2 of L-BFGS are needed (the curvature pass counts)", d.Hybrid.SGDPasses, d.Hybrid.LBFGSPasses)
		}
	} else if d.Reg.SGDL2 != 0 {
		fault("--sgd_l2", "it belongs to phase 1 of --hybrid; without --hybrid use --l2")
	}
	if d.Batch.BFGS && !d.TestOnly && d.Passes < 2 {
		fault("--bfgs", "at least 2 passes must be used: give --passes N (each pass over the data counts, the curvature pass too)")
	}
	d.validateBatch(fault)
	d.validateMeasures(fault)
	if d.Cluster.Join != nil && d.Cluster.Join.Checkpoints != nil && d.Output.Predictions+d.Output.RawPredictions != "" && d.predictedPasses() > 1 {
		fault("--checkpoint", "predictions of several passes cannot be had again, so nobody could go on from a state: leave out -p and -r, and predict in a run of its own (-t -i MODEL)")
	}
	if d.Data.ShuffleMemory < 0 {
		fault("--shuffle_memory", "%d bytes is negative", d.Data.ShuffleMemory)
	}
	for _, c := range d.Data.ClassWeights {
		if !(c.Weight >= 0) {
			fault("--classweight", "%g:%g: a weight of 0 or more is needed", c.Label, c.Weight)
		}
	}
	if (d.Reg.Output != "" || d.Reg.OutputText != "" || d.Model.Final != "" || d.Model.Readable != "" || d.Model.InvertHash != "" || d.Metrics.Extra != "" || d.Output.Predictions != "" || d.Output.RawPredictions != "") && d.Output.Create == nil {
		faults = append(faults, errors.New("learn: Config.Output.Create is needed for files to write"))
	}
	if d.Model.Initial+d.Reg.Input != "" && d.Model.Open == nil {
		faults = append(faults, errors.New("learn: Config.Model.Open is needed for a model to read"))
	}
	return errors.Join(faults...)
}

// validateNames reports where names cannot be had.
func (c *Config) validateNames(fault func(option, format string, args ...any)) {
	if !c.named() {
		return
	}
	option := "--audit"
	if c.Output.Audit == nil {
		option = "--invert_hash"
	}
	switch {
	case c.Data.Cache != "" && c.Model.InvertHash != "":
		fault("--invert_hash", "a cache has no names: leave it out; several passes then read the text again")
	case c.Cluster.Join != nil:
		fault(option, "a rank knows the names of its own share only: train first, then show the model in one process (-t -i MODEL)")
	case (c.Batch.BFGS || c.Hybrid != nil) && !c.TestOnly:
		fault(option, "it follows SGD from example to example: train first, then show the model (-t -i MODEL)")
	}
}

// validateBatch reports the faults in what batch solvers are told.
func (c *Config) validateBatch(fault func(option, format string, args ...any)) {
	batch := c.Batch.BFGS || c.Hybrid != nil
	if batch && c.Batch.Mem.Value < 0 {
		fault("--mem", "%d pairs: 0 for conjugate gradients, or more", c.Batch.Mem.Value)
	}
	if c.Batch.Termination.Value < 0 {
		fault("--termination", "%g is negative", c.Batch.Termination.Value)
	}
	if c.Reg.Input != "" {
		if c.Model.Initial != "" {
			fault("--input_feature_regularizer", "training starts at the weights that it holds: leave -i out")
		}
		if c.Hybrid != nil {
			fault("--input_feature_regularizer", "L-BFGS would have to start at the weights that it holds, not at those of SGD: leave --hybrid out")
		}
	}
}

// validateFormat reports what is wrong with the way the data is to be read.
func (c *Config) validateFormat(fault func(option, format string, args ...any)) {
	switch c.Data.Format {
	case "", FormatJSON, FormatLIBSVM:
	case FormatCSV:
		if err := c.Data.CSV.Validate(); err != nil {
			fault("", "%v", err)
		}
	default:
		fault("", "%q is no format: text is the default, the others are json, csv and libsvm", c.Data.Format)
	}
	if c.Data.MaxLine < 0 {
		fault("--max_line", "%d bytes: a number above 0 is needed", c.Data.MaxLine)
	}
}

// validateFTRL looks whether the options of the FTRL family make sense.
func (c *Config) validateFTRL(fault func(option, format string, args ...any)) {
	if c.FTRL.Rule == ftrl.None {
		return
	}
	name := c.follower()
	if c.Cluster.Join != nil {
		fault(name, "it is for one process: its weights follow from sums of gradients that have no average over ranks (vw's ranks train apart without a word); use the default rule")
	}
	if c.Batch.BFGS || c.Hybrid != nil {
		fault(name, "it is a learner of its own: leave --bfgs and --hybrid out")
	}
	for _, o := range []struct {
		name  string
		value float32
	}{{"--ftrl_alpha", c.FTRL.Alpha.Value}, {"--ftrl_beta", c.FTRL.Beta.Value}} {
		if o.value < 0 {
			fault(o.name, "%g is negative", o.value)
		}
	}
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

// validateClasses looks whether the options of one against all make sense.
func (c *Config) validateClasses(fault func(option, format string, args ...any)) {
	if c.OAA.Classes == 0 {
		return
	}
	names := c.classNames()
	if c.Batch.BFGS || c.Hybrid != nil {
		fault("--oaa", "L-BFGS learns one model: leave --bfgs and --hybrid out")
	}
	if c.Loss.Binary || c.Loss.Link != "identity" && !c.linksClasses() {
		fault("--oaa", "--binary and --link are for one score, and a class is predicted: leave them out (--probabilities gives probabilities)")
	}
	if c.Features.Bits < 32 && c.OAA.Classes > 1<<c.Features.Bits {
		fault("--oaa", "%d classes do not fit 2^%d weights: give a larger -b", c.OAA.Classes, c.Features.Bits)
	}
	if c.OAA.Indexing.Set && c.OAA.Indexing.Value != 0 && c.OAA.Indexing.Value != 1 {
		fault("--indexing", "%d: labels count from 0 or from 1", c.OAA.Indexing.Value)
	}
	if names != nil && c.OAA.Indexing.Set && c.OAA.Indexing.Value != 1 {
		fault("--indexing", "%d: --named_labels count from 1", c.OAA.Indexing.Value)
	}
	if names != nil && len(names) != c.OAA.Classes {
		fault("--named_labels", "there are %d named labels, and --oaa has %d classes", len(names), c.OAA.Classes)
	}
	seen := map[string]bool{}
	for _, n := range names {
		if n == "" || seen[n] || strings.ContainsAny(n, " \t:|") {
			fault("--named_labels", "%q: want different words without blanks, ':' and '|', separated by commas", n)
		}
		seen[n] = true
	}
}
