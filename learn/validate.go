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
	"github.com/gvw-project/gvw/option"
)

// withDefaults returns c with defaults for the fields at zero. It first records in given which
// settings the caller has given, since a default must not count against a loaded model.
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
		c.Batch.BFGS, c.Batch.Mem = c.Hybrid == nil, option.Some(0)
		c.Batch.Termination.Set = true // with its value, which is 0 if it was not given
	}
	if !c.Batch.Mem.Set {
		c.Batch.Mem.Value = lbfgs.DefaultMem
	}
	if !c.Batch.Termination.Set {
		c.Batch.Termination.Value = descent.DefaultTermination
	}
	return c
}

// predictedPasses returns the maximum number of passes whose predictions -p and -r write.
func (c *Config) predictedPasses() int {
	if c.Hybrid != nil {
		return c.Hybrid.SGDPasses
	}
	return c.Passes
}

// Validate reports every fault of the configuration at once.
func (c *Config) Validate() error {
	var faults []error
	fault := func(field, format string, args ...any) {
		faults = append(faults, usage(field, format, args...))
	}
	d := c.withDefaults()
	if d.Features.Bits < 1 || d.Features.Bits > 32 {
		fault("Features.Bits", "%d bits: gvw keeps 2^b weights with b from 1 to 32", d.Features.Bits)
	}
	if d.Passes < 1 {
		fault("Passes", "%d passes: at least one is needed", d.Passes)
	}
	if d.Holdout.Period < 1 {
		fault("Holdout.Period", "every %d-th example cannot be held out", d.Holdout.Period)
	}
	if d.Holdout.After < 0 {
		fault("Holdout.After", "%d is no number of examples", d.Holdout.After)
	}
	if d.Holdout.EarlyTerminate < 1 {
		fault("Holdout.EarlyTerminate", "%d passes: at least one is needed", d.Holdout.EarlyTerminate)
	}
	d.validateFormat(fault)
	if d.Reg.L1 < 0 {
		fault("Reg.L1", "%g is negative", d.Reg.L1)
	}
	if d.Reg.L2 < 0 {
		fault("Reg.L2", "%g is negative", d.Reg.L2)
	}
	if d.Reg.SGDL2 < 0 {
		fault("Reg.SGDL2", "%g is negative", d.Reg.SGDL2)
	}
	if _, err := d.updateRule(); err != nil {
		fault("", "%s", strings.TrimPrefix(err.Error(), "sgd: "))
	}
	d.validateClasses(fault)
	d.validateFTRL(fault)
	if d.Data.Examples < 0 {
		fault("Data.Examples", "%d is no number of examples", d.Data.Examples)
	}
	if d.Data.Examples > 0 && d.Cluster.Join != nil {
		fault("Data.Examples", "on a cluster every rank would have first ones of its own: cut the data instead")
	}
	if d.Data.PassLength < 0 {
		fault("Data.PassLength", "%d is no number of examples", d.Data.PassLength)
	}
	if d.Data.PassLength > 0 && (d.Cluster.Join != nil || d.Batch.BFGS || d.Hybrid != nil || d.Data.Shuffle) {
		fault("Data.PassLength", "it is for SGD in one process, in the order of the data: leave it out")
	}
	if d.Model.SavePerPass && d.Hybrid != nil {
		fault("Model.SavePerPass", "the passes of a hybrid are of two learners: run SGD and learn.Config.Batch.BFGS one after the other")
	}
	if d.Model.PreserveCounters && d.Model.Initial != "" && (d.Cluster.Join != nil || d.Hybrid != nil) {
		fault("Model.PreserveCounters", "it is for one learner in one process: on a cluster the sums of the model would count once a rank")
	}
	if _, err := d.newLoss(); err != nil {
		fault("Loss.Function", "%v", err)
	}
	if d.Loss.MinPrediction.Set && d.Loss.MaxPrediction.Set && d.Loss.MinPrediction.Value > d.Loss.MaxPrediction.Value {
		fault("Loss.MinPrediction", "%g is above learn.Config.Loss.MaxPrediction=%g", d.Loss.MinPrediction.Value, d.Loss.MaxPrediction.Value)
	}
	if _, err := loss.NewLink(d.Loss.Link); err != nil {
		fault("Loss.Link", "%v", err)
	}
	d.validateNames(fault)
	d.Features.Namespaces.validate(fault)
	if err := d.Features.Namespaces.values(); err != nil {
		fault("", "%v", err)
	}
	if len(d.Data.Inputs) == 0 && d.Data.Cache == "" {
		fault("Data.Inputs", "there is nothing to read: give inputs, or a cache (learn.Config.Data.Cache)")
	}
	if d.TestOnly && (d.Batch.BFGS || d.Hybrid != nil) && d.Model.Open == nil {
		fault("TestOnly", "nothing to test: give the model (learn.Config.Model.Initial)")
	}
	if d.Hybrid != nil {
		if d.Batch.BFGS {
			fault("Hybrid", "it runs L-BFGS by itself: leave learn.Config.Batch.BFGS out")
		}
		if d.Hybrid.SGDPasses < 1 || d.Hybrid.LBFGSPasses < 2 {
			fault("Hybrid", "%d:%d: at least 1 pass of SGD and 2 of L-BFGS are needed (the curvature pass counts)", d.Hybrid.SGDPasses, d.Hybrid.LBFGSPasses)
		}
	} else if d.Reg.SGDL2 != 0 {
		fault("Reg.SGDL2", "it belongs to phase 1 of learn.Config.Hybrid; without that, use learn.Config.Reg.L2")
	}
	if d.Batch.BFGS && !d.TestOnly && d.Passes < 2 {
		fault("Batch.BFGS", "at least 2 passes must be used: give learn.Config.Passes (each pass over the data counts, the curvature pass too)")
	}
	d.validateBatch(fault)
	d.validateMeasures(fault)
	if d.Cluster.Join != nil && d.Cluster.Join.Checkpoints != nil && d.Output.Predictions+d.Output.RawPredictions != "" && d.predictedPasses() > 1 {
		fault("Cluster.Join.Checkpoints", "predictions of several passes cannot be had again, so nobody could go on from a state: leave learn.Config.Output.Predictions and learn.Config.Output.RawPredictions out, and predict in a run of its own")
	}
	if d.Data.ShuffleMemory < 0 {
		fault("Data.ShuffleMemory", "%d bytes is negative", d.Data.ShuffleMemory)
	}
	for _, c := range d.Data.ClassWeights {
		if !(c.Weight >= 0) {
			fault("Data.ClassWeights", "%g:%g: a weight of 0 or more is needed", c.Label, c.Weight)
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

// validateNames reports options that need the names of features where none are known.
func (c *Config) validateNames(fault func(field, format string, args ...any)) {
	if !c.named() {
		return
	}
	field := "Output.Audit"
	if c.Output.Audit == nil {
		field = "Model.InvertHash"
	}
	switch {
	case c.Data.Cache != "" && c.Model.InvertHash != "":
		fault("Model.InvertHash", "a cache has no names: leave it out; several passes then read the text again")
	case c.Cluster.Join != nil:
		fault(field, "a rank knows the names of its own share only: train first, then show the model in one process (learn.Config.TestOnly, learn.Config.Model.Initial=MODEL)")
	case (c.Batch.BFGS || c.Hybrid != nil) && !c.TestOnly:
		fault(field, "it follows SGD from example to example: train first, then show the model (learn.Config.TestOnly, learn.Config.Model.Initial=MODEL)")
	}
}

// validateBatch reports the faults of the options for batch solvers.
func (c *Config) validateBatch(fault func(field, format string, args ...any)) {
	batch := c.Batch.BFGS || c.Hybrid != nil
	if batch && c.Batch.Mem.Value < 0 {
		fault("Batch.Mem", "%d pairs: 0 for conjugate gradients, or more", c.Batch.Mem.Value)
	}
	if c.Batch.Termination.Value < 0 {
		fault("Batch.Termination", "%g is negative", c.Batch.Termination.Value)
	}
	if c.Reg.Input != "" {
		if c.Model.Initial != "" {
			fault("Reg.Input", "training starts at the weights that it holds: leave learn.Config.Model.Initial out")
		}
		if c.Hybrid != nil {
			fault("Reg.Input", "L-BFGS would have to start at the weights that it holds, not at those of SGD: leave learn.Config.Hybrid out")
		}
	}
}

// validateFormat reports the faults of the options for the format of the data.
func (c *Config) validateFormat(fault func(field, format string, args ...any)) {
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
		fault("Data.MaxLine", "%d bytes: a number above 0 is needed", c.Data.MaxLine)
	}
}

// validateFTRL reports the faults of the options for the FTRL family.
func (c *Config) validateFTRL(fault func(field, format string, args ...any)) {
	if c.FTRL.Rule == ftrl.None {
		return
	}
	name := c.follower()
	if c.Cluster.Join != nil {
		fault(name, "it is for one process: its weights follow from sums of gradients that have no average over ranks (vw's ranks train apart without a word); use the default rule")
	}
	if c.Batch.BFGS || c.Hybrid != nil {
		fault(name, "it is a learner of its own: leave learn.Config.Batch.BFGS and learn.Config.Hybrid out")
	}
	for _, o := range []struct {
		name  string
		value float32
	}{{"FTRL.Alpha", c.FTRL.Alpha.Value}, {"FTRL.Beta", c.FTRL.Beta.Value}} {
		if o.value < 0 {
			fault(o.name, "%g is negative", o.value)
		}
	}
}

// validateMeasures reports measures that the options rule out.
func (c *Config) validateMeasures(fault func(field, format string, args ...any)) {
	if c.Metrics.File != "" && len(c.Metrics.Measures) == 0 {
		fault("Metrics.File", "it would be empty without learn.Config.Metrics.Measures")
	}
	if c.Metrics.Extra != "" && (c.Cluster.Join != nil || c.Hybrid != nil) {
		fault("Metrics.Extra", "it counts the calls of one learner in one process: leave it out")
	}
	if c.Model.Initial == "" { // otherwise the loaded model decides what is learned
		if err := c.checkMeasures(); err != nil {
			fault("", "%v", err)
		}
	}
	if len(c.Holdout.Valid) > 0 && c.TestOnly {
		fault("Holdout.Valid", "nothing is learned: give the file as learn.Config.Data.Inputs")
	}
}

// checkMeasures reports measures that the loss and the labels rule out. It runs when the
// options of the loaded model are known.
func (c *Config) checkMeasures() error {
	var faults []error
	fault := func(text, name string) { faults = append(faults, usage("Metrics.Measures", text, name)) }
	if c.OAA.Classes > 0 {
		if m := c.Metrics.Measures.Single(); len(m) > 0 {
			fault("%s is a measure of one score, and learn.Config.OAA.Classes chooses one of several classes: it has logloss and accuracy", m[0])
		}
		if c.Metrics.Measures.Has(metric.LogLoss) && !c.OAA.Probabilities {
			fault("%s needs probabilities: with learn.Config.OAA.Classes give learn.Config.OAA.Probabilities", metric.LogLoss)
		}
		return errors.Join(faults...)
	}
	if m := c.Metrics.Measures.Probabilities(); len(m) > 0 && c.Loss.Function != "logistic" && c.Loss.Link != "logistic" {
		fault("%s needs probabilities: learn.Config.Loss.Function=logistic or learn.Config.Loss.Link=logistic", m[0])
	}
	if m := c.Metrics.Measures.Signs(); len(m) > 0 && c.Loss.Function != "logistic" && c.Loss.Function != "hinge" && c.Loss.Link != "logistic" && !c.Loss.Binary {
		fault("%s needs two classes: learn.Config.Loss.Function=logistic or hinge, learn.Config.Loss.Link=logistic or learn.Config.Loss.Binary", m[0])
	}
	return errors.Join(faults...)
}

// validateClasses reports the faults of the options for one against all.
func (c *Config) validateClasses(fault func(field, format string, args ...any)) {
	if c.OAA.Classes == 0 {
		return
	}
	names := c.classNames()
	if c.Batch.BFGS || c.Hybrid != nil {
		fault("OAA.Classes", "L-BFGS learns one model: leave learn.Config.Batch.BFGS and learn.Config.Hybrid out")
	}
	if c.Loss.Binary || c.Loss.Link != "identity" && !c.linksClasses() {
		fault("OAA.Classes", "learn.Config.Loss.Binary and learn.Config.Loss.Link are for one score, and a class is predicted: leave them out (learn.Config.OAA.Probabilities gives probabilities)")
	}
	if c.Features.Bits < 32 && c.OAA.Classes > 1<<c.Features.Bits {
		fault("OAA.Classes", "%d classes do not fit 2^%d weights: give a larger learn.Config.Features.Bits", c.OAA.Classes, c.Features.Bits)
	}
	if c.OAA.Indexing.Set && c.OAA.Indexing.Value != 0 && c.OAA.Indexing.Value != 1 {
		fault("OAA.Indexing", "%d: labels count from 0 or from 1", c.OAA.Indexing.Value)
	}
	if names != nil && c.OAA.Indexing.Set && c.OAA.Indexing.Value != 1 {
		fault("OAA.Indexing", "%d: learn.Config.OAA.NamedLabels count from 1", c.OAA.Indexing.Value)
	}
	if names != nil && len(names) != c.OAA.Classes {
		fault("OAA.NamedLabels", "there are %d named labels, and learn.Config.OAA.Classes has %d classes", len(names), c.OAA.Classes)
	}
	seen := map[string]bool{}
	for _, n := range names {
		if n == "" || seen[n] || strings.ContainsAny(n, " \t:|") {
			fault("OAA.NamedLabels", "%q: want different words without blanks, ':' and '|', separated by commas", n)
		}
		seen[n] = true
	}
}
