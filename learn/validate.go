// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"strings"

	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/descent"
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
