// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/learn/internal/usage"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/optim/lbfgs"
	"github.com/gvw-project/gvw/option"
)

// Defaults that withDefaults fills in, and that groups use when they are validated.
const (
	defaultLoss = "squared"
	defaultLink = "identity"

	defaultEarlyTerminate = 3
)

// withDefaults returns c with defaults for the fields at zero. It first records in given which
// settings the caller has given, since a default must not count against a loaded model.
func (c Config) withDefaults() Config {
	if !c.given.known {
		h := c.Holdout
		c.given = given{
			known: true,
			bits:  c.Features.Bits != 0, loss: c.Loss.Function != "", link: c.Loss.Link != "",
			seed:    c.Model.Start.Seed,
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
		c.Holdout.EarlyTerminate = defaultEarlyTerminate
	}
	if c.SGD.DecayLearningRate == 0 {
		c.SGD.DecayLearningRate = 1
	}
	if c.Loss.Function == "" {
		c.Loss.Function = defaultLoss
	}
	if c.Loss.Link == "" {
		c.Loss.Link = defaultLink
	}
	if c.Batch.ConjugateGradient {
		c.Batch.BFGS, c.Batch.Mem = c.Hybrid == nil, option.Some(0)
		c.Batch.Termination.Set = true // with its value, which is 0 if it was not given
	}
	c.averageDefaults()
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

// Validate reports every fault of the configuration at once: the faults of each group, then those
// of fields in several groups that contradict each other.
func (c *Config) Validate() error {
	var f usage.Faults
	if c.Passes < 0 {
		f.Add("Passes", "%d passes: at least one is needed", c.Passes)
	}
	hybrid := c.Hybrid
	if hybrid == nil {
		hybrid = &Hybrid{SGDPasses: 1, LBFGSPasses: 2} // the smallest, without faults
	}
	d := c.withDefaults()
	err := errors.Join(
		f.Err(),
		c.Holdout.Validate(), c.Features.Validate(), c.Reg.Validate(), c.SGD.Validate(), c.OAA.Validate(), c.LDA.Validate(), c.Learner.Validate(), c.FTRL.Validate(),
		c.Loss.Validate(), c.Data.Validate(), hybrid.Validate(), c.Batch.Validate(), c.Malt.Validate(), c.Average.Validate(), c.Outer.Validate(), c.Model.Validate(), c.Metrics.Validate(),
		c.Output.Validate(), c.Diagnostics.Validate(), c.Cluster.Validate(),
		d.validateTogether(),
	)
	if err == nil && d.writesModel() {
		err = d.checkHeader()
	}
	return err
}

// writesModel reports whether the run writes a file with the header of a model.
func (c *Config) writesModel() bool {
	return c.Model.Final+c.Model.Readable+c.Model.InvertHash+c.Reg.Output+c.Reg.OutputText != ""
}

// checkHeader reports what the header of a model has no room for, before the work that would be
// lost. c has its defaults and no other faults.
func (c *Config) checkHeader() error {
	var f usage.Faults
	id := model.Header{ID: c.Model.ID, Bits: c.Features.Bits}
	if err := id.CheckHeader(); err != nil {
		f.Add("Model.ID", "%s", strings.TrimPrefix(err.Error(), "model: "))
	}
	longest := *c // with the longest values that training may set
	longest.Model.Start.Seed = math.MaxUint64
	if c.OAA.Classes > 0 && !c.OAA.Indexing.Set {
		longest.OAA.Indexing = option.Some(0)
	}
	h := longest.modelHeader(true)
	h.ID = ""
	if c.LDA.LearnAlpha {
		h.SetAlphas(slices.Repeat([]float64{1.00005555e-36}, c.LDA.Topics)) // the most digits of a float32
	} else if c.LDA.alphas != nil {
		h.SetAlphas(c.LDA.alphas)
	}
	if err := h.CheckHeader(); err != nil {
		f.Add("", "%v", err)
	}
	return f.Err()
}

// validateTogether reports the faults between groups. c has its defaults.
func (c *Config) validateTogether() error {
	var f usage.Faults
	c.validateSGD(&f)
	c.validateThreads(&f)
	c.validateClasses(&f)
	c.validateFTRL(&f)
	c.validateLDA(&f)
	c.validateLearner(&f)
	c.validateNames(&f)
	c.validateBatch(&f)
	c.validateMalt(&f)
	c.validateAverage(&f)
	c.validateMeasures(&f)
	c.validateFiles(&f)
	return f.Err()
}

// batches reports whether a batch solver learns, perhaps after SGD.
func (c *Config) batches() bool { return c.Batch.BFGS || c.Hybrid != nil }

// validateSGD reports options that only SGD in one process has.
func (c *Config) validateSGD(f *usage.Faults) {
	if c.Data.Examples > 0 && c.Cluster.Join != nil {
		f.Add("Data.Examples", "on a cluster each rank would read its own first examples: cut the data instead")
	}
	if c.Data.PassLength > 0 && (c.Cluster.Join != nil || c.batches() || c.Data.Shuffle) {
		f.Add("Data.PassLength", "it is for SGD in one process, in the order of the data: leave it out")
	}
	if c.Model.SavePerPass && c.Hybrid != nil {
		f.Add("Model.SavePerPass", "the passes of a hybrid are of two learners: run SGD and learn.Config.Batch.BFGS one after the other")
	}
	if c.Model.PreserveCounters && c.Model.Initial != "" && (c.Cluster.Join != nil || c.Hybrid != nil) {
		f.Add("Model.PreserveCounters", "it is for one learner in one process: on a cluster the sums of the model would count once a rank")
	}
}

// validateThreads reports options that contradict several threads of SGD.
func (c *Config) validateThreads(f *usage.Faults) {
	field := "SGD.Hogwild"
	switch {
	case c.SGD.Threads > 1 && c.SGD.Hogwild > 1:
		f.Add("SGD.Threads", "learn.Config.SGD.Hogwild has one table of weights for all threads: leave one of them out")
		return
	case c.SGD.Threads > 1:
		field = "SGD.Threads"
	case c.SGD.Hogwild <= 1:
		return
	}
	refuse := func(other string, is bool, why string) {
		if is {
			f.Add(field, "%s: leave it out, or leave learn.Config.%s out", why, other)
		}
	}
	refuse("Batch.BFGS", c.Batch.BFGS, "L-BFGS uses all cores by itself")
	refuse("OAA.Classes", c.OAA.Classes > 0, "it is for one model of simple labels")
	refuse("FTRL.Rule", c.FTRL.Rule != ftrl.None, "it is for SGD")
	refuse("LDA.Topics", c.LDA.Topics > 0, "it is for SGD")
	if c.Learner.on() {
		refuse(c.Learner.name(), true, "it is for the linear learner")
	}
	refuse("Average.Aggregate", c.Average.on(), "ranks average models of one goroutine")
	refuse("Malt.Graph", c.Malt.on(), "ranks exchange models of one goroutine")
	refuse("Reg.L1", c.Reg.L1 != 0 || c.Reg.L1State != 0, "regularisation of all weights needs them in one order of updates")
	l2 := c.Reg.L2
	if c.Hybrid != nil {
		l2 = c.Reg.SGDL2
	}
	refuse("Reg.L2", l2 != 0 || c.Reg.L2State.Or(1) != 1, "regularisation of all weights needs them in one order of updates")
	refuse("Data.Shuffle", c.Data.Shuffle, "passes in another order have one goroutine")
	refuse("Data.PassLength", c.Data.PassLength > 0, "passes end between two examples of one goroutine")
	refuse("Data.ClassWeights", len(c.Data.ClassWeights) > 0, "examples have the weights of the data")
	refuse("Output.Audit", c.named(), "the names of features are not kept")
	recovers := c.Cluster.Join != nil && c.Cluster.Join.OnLoss != allreduce.Abort
	if field == "SGD.Hogwild" {
		if recovers {
			f.Add(field, "the model depends on the timing, and a rank that replaces a lost one would have other weights: leave it out, or choose allreduce.Abort in learn.Config.Cluster.Join.OnLoss")
		}
		return
	}
	if recovers {
		f.Add(field, "replicas do not keep the weights of the last step for a rank that replaces a lost one: leave it out, or choose allreduce.Abort in learn.Config.Cluster.Join.OnLoss")
	}
	refuse("Reg.SparseL2", c.Reg.SparseL2 != 0, "an update without loss uses the rates of earlier updates, which a merge removes")
	if c.Model.Initial == "" && !c.Average.on() { // otherwise the loaded model decides on the rule
		if err := c.checkReplicas(); err != nil {
			*f = append(*f, err)
		}
	}
}

// checkReplicas reports an update rule that replicas cannot have. It runs when the options of the loaded model are known.
func (c *Config) checkReplicas() error {
	var f usage.Faults
	rule := c.SGD.options().Config()
	if c.SGD.Threads > 1 && !c.TestOnly && !rule.Mergeable() {
		f.Add("SGD.Threads", "replicas are merged by the rates of their weights, which plain steps do not have: leave it out, or give learn.Config.SGD.Adaptive or learn.Config.SGD.Normalized")
	}
	return f.Err()
}

// validateClasses reports options that contradict one against all.
func (c *Config) validateClasses(f *usage.Faults) {
	if c.OAA.Classes <= 0 {
		return
	}
	if c.batches() {
		f.Add("OAA.Classes", "L-BFGS learns one model: leave learn.Config.Batch.BFGS and learn.Config.Hybrid out")
	}
	if c.Loss.Binary || c.Loss.Link != defaultLink && !c.linksClasses() {
		f.Add("OAA.Classes", "learn.Config.Loss.Binary and learn.Config.Loss.Link are for one score, and a class is predicted: leave them out (learn.Config.OAA.Probabilities gives probabilities)")
	}
	if c.Features.Bits < 32 && c.OAA.Classes > 1<<c.Features.Bits {
		f.Add("OAA.Classes", "%d classes do not fit 2^%d weights: give a larger learn.Config.Features.Bits", c.OAA.Classes, c.Features.Bits)
	}
}

// validateFTRL reports options that contradict a learner of the FTRL family.
func (c *Config) validateFTRL(f *usage.Faults) {
	if c.FTRL.Rule == ftrl.None || c.FTRL.Rule > ftrl.FreeGrad {
		return
	}
	name := c.follower()
	if c.Cluster.Join != nil {
		f.Add(name, "it is for one process: its weights follow from sums of gradients that have no average over ranks (vw's ranks would train separately, without a warning); use the default rule")
	}
	if c.batches() {
		f.Add(name, "it is another learner: leave learn.Config.Batch.BFGS and learn.Config.Hybrid out")
	}
}

// validateNames reports options that need the names of features where none are known.
func (c *Config) validateNames(f *usage.Faults) {
	if !c.named() {
		return
	}
	field := "Output.Audit"
	if c.Output.Audit == nil {
		field = "Model.InvertHash"
	}
	switch {
	case c.Data.Cache != "" && c.Model.InvertHash != "":
		f.Add("Model.InvertHash", "a cache has no names: leave it out; several passes then read the text again")
	case c.Cluster.Join != nil:
		f.Add(field, "a rank has only the names of its own share: train first, then show the model in one process (learn.Config.TestOnly, learn.Config.Model.Initial=MODEL)")
	case c.batches() && !c.TestOnly:
		f.Add(field, "it follows SGD from example to example: train first, then show the model (learn.Config.TestOnly, learn.Config.Model.Initial=MODEL)")
	}
}

// validateBatch reports options that contradict a batch solver, or need one.
func (c *Config) validateBatch(f *usage.Faults) {
	if c.TestOnly && c.batches() && c.Model.Open == nil {
		f.Add("TestOnly", "nothing to test: give the model (learn.Config.Model.Initial)")
	}
	if c.Hybrid != nil && c.Batch.BFGS {
		f.Add("Hybrid", "it runs L-BFGS by itself: leave learn.Config.Batch.BFGS out")
	}
	if c.Hybrid == nil && c.Reg.SGDL2 != 0 {
		f.Add("Reg.SGDL2", "it belongs to phase 1 of learn.Config.Hybrid; without that, use learn.Config.Reg.L2")
	}
	if c.Batch.BFGS && !c.TestOnly && c.Passes < 2 {
		f.Add("Batch.BFGS", "at least 2 passes must be used: give learn.Config.Passes (each pass over the data counts, the curvature pass too)")
	}
	if c.Batch.second() && c.batches() {
		c.validateSecond(f)
	}
	if c.Reg.Input == "" {
		return
	}
	if c.Model.Initial != "" {
		f.Add("Reg.Input", "training starts at the weights that it holds: leave learn.Config.Model.Initial out")
	}
	if c.Hybrid != nil {
		f.Add("Reg.Input", "L-BFGS would have to start at the weights that it holds, not at those of SGD: leave learn.Config.Hybrid out")
	}
}

// validateSecond reports options that contradict a solver of second order.
func (c *Config) validateSecond(f *usage.Faults) {
	switch c.Loss.Function {
	case "hinge", "quantile":
		f.Add("Batch.Solver", "the %s loss has no second derivative, which %s needs: use logistic, squared or poisson, or L-BFGS", c.Loss.Function, c.Batch.Solver)
	}
	if c.Batch.Semantics == optim.VW9 {
		f.Add("Batch.Semantics", "the preconditioner of vw 9 is L-BFGS's: leave it or learn.Config.Batch.Solver out")
	}
	if c.Batch.HessianOn {
		f.Add("Batch.HessianOn", "%s makes products with the whole Hessian: leave it out", c.Batch.Solver)
	}
	if c.mixes() {
		f.Add("Batch.Mem", "0 pairs make conjugate gradients, which is another solver: leave it or learn.Config.Batch.Solver out")
	}
}

// validateMeasures reports measures that other options rule out.
func (c *Config) validateMeasures(f *usage.Faults) {
	if c.Metrics.Extra != "" && (c.Cluster.Join != nil || c.Hybrid != nil) {
		f.Add("Metrics.Extra", "it counts the calls of one learner in one process: leave it out")
	}
	if c.Model.Initial == "" { // otherwise the loaded model decides what is learned
		if err := c.checkMeasures(); err != nil {
			*f = append(*f, err)
		}
	}
	if len(c.Holdout.Valid) > 0 && c.TestOnly {
		f.Add("Holdout.Valid", "nothing is learned: give the file as learn.Config.Data.Inputs")
	}
}

// checkMeasures reports measures that the loss and the labels rule out. It runs when the
// options of the loaded model are known.
func (c *Config) checkMeasures() error {
	var f usage.Faults
	fault := func(text, name string) { f.Add("Metrics.Measures", text, name) }
	if c.OAA.Classes > 0 {
		if m := c.Metrics.Measures.Single(); len(m) > 0 {
			fault("%s is a measure of one score, and learn.Config.OAA.Classes chooses one of several classes: it has logloss and accuracy", m[0])
		}
		if c.Metrics.Measures.Has(metric.LogLoss) && !c.OAA.Probabilities {
			fault("%s needs probabilities: with learn.Config.OAA.Classes give learn.Config.OAA.Probabilities", metric.LogLoss)
		}
		return f.Err()
	}
	if m := c.Metrics.Measures.Probabilities(); len(m) > 0 && c.Loss.Function != "logistic" && c.Loss.Link != "logistic" {
		fault("%s needs probabilities: learn.Config.Loss.Function=logistic or learn.Config.Loss.Link=logistic", m[0])
	}
	if m := c.Metrics.Measures.Signs(); len(m) > 0 && c.Loss.Function != "logistic" && c.Loss.Function != "hinge" && c.Loss.Link != "logistic" && !c.Loss.Binary {
		fault("%s needs two classes: learn.Config.Loss.Function=logistic or hinge, learn.Config.Loss.Link=logistic or learn.Config.Loss.Binary", m[0])
	}
	return f.Err()
}

// validateFiles reports files that cannot be read, written or written again.
func (c *Config) validateFiles(f *usage.Faults) {
	predicts := c.Output.Predictions+c.Output.RawPredictions != ""
	if c.Cluster.Join != nil && c.Cluster.Join.Checkpoints != nil && predicts && c.predictedPasses() > 1 {
		f.Add("Cluster.Join.Checkpoints", "a rank that continues from a checkpoint cannot repeat the predictions of earlier passes: leave learn.Config.Output.Predictions and learn.Config.Output.RawPredictions out, and predict in a separate run")
	}
	// The groups Output and Model have reported their own files.
	others := c.Reg.Output + c.Reg.OutputText + c.Model.Final + c.Model.Readable + c.Model.InvertHash + c.Metrics.Extra
	if others != "" && !predicts && c.Output.Create == nil {
		f.Add("Output.Create", "it is needed for files to write")
	}
	if c.Reg.Input != "" && c.Model.Initial+c.Model.FeatureMask == "" && c.Model.Open == nil {
		f.Add("Model.Open", "it is needed for a regulariser to read")
	}
}
