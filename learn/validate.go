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
	if c.Bits == 0 {
		c.Bits = 18
	}
	if c.Passes == 0 {
		c.Passes = 1
	}
	if c.HoldoutPeriod == 0 {
		c.HoldoutPeriod = 10
	}
	if c.EarlyTerminate == 0 {
		c.EarlyTerminate = 3
	}
	if c.DecayLearningRate == 0 {
		c.DecayLearningRate = 1
	}
	if c.Loss == "" {
		c.Loss = "squared"
	}
	if c.Link == "" {
		c.Link = "identity"
	}
	if c.ConjugateGradient {
		c.BFGS, c.Mem, c.MemSet = c.Hybrid == nil, 0, true
		c.TerminationSet = true // at what it is: 0 if not given
	}
	if !c.MemSet {
		c.Mem = lbfgs.DefaultMem
	}
	if !c.TerminationSet {
		c.Termination = descent.DefaultTermination
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
	if d.Bits < 1 || d.Bits > 32 {
		fault("--bit_precision", "%d bits: gvw keeps 2^b weights with b from 1 to 32", d.Bits)
	}
	if d.Passes < 1 {
		fault("--passes", "%d passes: at least one is needed", d.Passes)
	}
	if d.HoldoutPeriod < 1 {
		fault("--holdout_period", "every %d-th example cannot be held out", d.HoldoutPeriod)
	}
	if d.HoldoutAfter < 0 {
		fault("--holdout_after", "%d is no number of examples", d.HoldoutAfter)
	}
	if d.EarlyTerminate < 1 {
		fault("--early_terminate", "%d passes: at least one is needed", d.EarlyTerminate)
	}
	d.validateFormat(fault)
	if d.L1 < 0 {
		fault("--l1", "%g is negative", d.L1)
	}
	if d.L2 < 0 {
		fault("--l2", "%g is negative", d.L2)
	}
	if d.SGDL2 < 0 {
		fault("--sgd_l2", "%g is negative", d.SGDL2)
	}
	if _, err := d.updateRule(); err != nil {
		fault("", "%s", strings.TrimPrefix(err.Error(), "sgd: "))
	}
	d.validateClasses(fault)
	d.validateFTRL(fault)
	if d.Examples < 0 {
		fault("--examples", "%d is no number of examples", d.Examples)
	}
	if d.Examples > 0 && d.Cluster != nil {
		fault("--examples", "on a cluster every rank would have first ones of its own: cut the data instead")
	}
	if d.PassLength < 0 {
		fault("--initial_pass_length", "%d is no number of examples", d.PassLength)
	}
	if d.PassLength > 0 && (d.Cluster != nil || d.BFGS || d.Hybrid != nil || d.Shuffle) {
		fault("--initial_pass_length", "it is for SGD in one process, in the order of the data: leave it out")
	}
	if d.SavePerPass && d.Hybrid != nil {
		fault("--save_per_pass", "the passes of a hybrid are of two learners: run --passes and --bfgs one after the other")
	}
	if d.PreserveCounters && d.InitialModel != "" && (d.Cluster != nil || d.Hybrid != nil) {
		fault("--preserve_performance_counters", "it is for one learner in one process: on a cluster the sums of the model would count once a rank")
	}
	if _, err := d.newLoss(); err != nil {
		fault("--loss_function", "%v", err)
	}
	if d.MinPredictionSet && d.MaxPredictionSet && d.MinPrediction > d.MaxPrediction {
		fault("--min_prediction", "%g is above --max_prediction %g", d.MinPrediction, d.MaxPrediction)
	}
	if _, err := loss.NewLink(d.Link); err != nil {
		fault("--link", "%v", err)
	}
	d.validateNames(fault)
	d.Namespaces.validate(fault)
	if err := d.Namespaces.values(); err != nil {
		fault("", "%v", err)
	}
	if len(d.Inputs) == 0 && d.Cache == "" {
		fault("--data", "there is nothing to read: give -d FILE, a cache, or text on stdin")
	}
	if d.TestOnly && (d.BFGS || d.Hybrid != nil) && d.OpenModel == nil {
		fault("--testonly", "nothing to test: give the model with -i")
	}
	if d.Hybrid != nil {
		if d.BFGS {
			fault("--hybrid", "it runs L-BFGS by itself: leave --bfgs out")
		}
		if d.Hybrid.SGDPasses < 1 || d.Hybrid.LBFGSPasses < 2 {
			fault("--hybrid", "%d:%d: at least 1 pass of SGD and 2 of L-BFGS are needed (the curvature pass counts)", d.Hybrid.SGDPasses, d.Hybrid.LBFGSPasses)
		}
	} else if d.SGDL2 != 0 {
		fault("--sgd_l2", "it belongs to phase 1 of --hybrid; without --hybrid use --l2")
	}
	if d.BFGS && !d.TestOnly && d.Passes < 2 {
		fault("--bfgs", "at least 2 passes must be used: give --passes N (each pass over the data counts, the curvature pass too)")
	}
	d.validateBatch(fault)
	d.validateMeasures(fault)
	if d.Cluster != nil && d.Cluster.Checkpoints != nil && d.Predictions+d.RawPredictions != "" && d.predictedPasses() > 1 {
		fault("--checkpoint", "predictions of several passes cannot be had again, so nobody could go on from a state: leave out -p and -r, and predict in a run of its own (-t -i MODEL)")
	}
	if d.ShuffleMemory < 0 {
		fault("--shuffle_memory", "%d bytes is negative", d.ShuffleMemory)
	}
	for _, c := range d.ClassWeights {
		if !(c.Weight >= 0) {
			fault("--classweight", "%g:%g: a weight of 0 or more is needed", c.Label, c.Weight)
		}
	}
	if (d.OutputRegularizer != "" || d.OutputRegularizerTxt != "" || d.FinalModel != "" || d.ReadableModel != "" || d.InvertHash != "" || d.ExtraMetrics != "" || d.Predictions != "" || d.RawPredictions != "") && d.Create == nil {
		faults = append(faults, errors.New("learn: Config.Create is needed for files to write"))
	}
	if d.InitialModel+d.InputRegularizer != "" && d.OpenModel == nil {
		faults = append(faults, errors.New("learn: Config.OpenModel is needed for a model to read"))
	}
	return errors.Join(faults...)
}
