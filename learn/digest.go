// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/learn/internal/usage"
	"github.com/gvw-project/gvw/optim/sgd"
)

// options returns the canonical text of all options on which the ranks must agree. The server
// compares it when a rank joins, and a refusal names the first option that differs. Options
// that concern one rank only (data, cache, files, -P) are not in it.
//
// A name or a form that changes here keeps ranks of different versions of gvw apart.
func (c *Config) options(rule sgd.Config) string {
	var b strings.Builder
	add := func(name string, value any) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%v", name, value)
	}
	method := "sgd"
	switch {
	case c.TestOnly:
		method = "test"
	case c.Hybrid != nil:
		method = fmt.Sprintf("hybrid:%d:%d", c.Hybrid.SGDPasses, c.Hybrid.LBFGSPasses)
	case c.Batch.BFGS && c.mixes():
		method = "conjugate_gradient"
	case c.Batch.BFGS:
		method = "bfgs"
	}
	add("method", method)
	add("bits", c.Features.Bits)
	add("passes", c.Passes)
	c.lossDigest(add)
	add("link", c.Loss.Link)
	add("binary", c.Loss.Binary)
	if c.Data.Format != "" {
		add("format", c.DataFormat().Name)
	}
	add("hash_all", c.Features.Hash == "all")
	add("hash_seed", c.Features.HashSeed.Value)
	add("noconstant", c.Features.NoConstant)
	add("constant", c.Features.Constant)
	c.namespaceDigest(add)
	if c.batches() {
		c.batchDigest(add)
	}
	if !c.Batch.BFGS {
		c.ruleDigest(add, rule)
	}
	// The holdout set decides when all ranks stop.
	if c.Holdout.Off {
		add("holdout", "off")
	} else {
		add("holdout", fmt.Sprintf("period:%d,after:%d,early:%d", c.Holdout.Period, c.Holdout.After, c.Holdout.EarlyTerminate))
	}
	if len(c.Data.ClassWeights) > 0 {
		add("classweight", c.Data.ClassWeights)
	}
	if c.Data.Shuffle {
		add("shuffle", fmt.Sprintf("%d:%d", c.Data.ShuffleSeed, c.Data.ShuffleMemory))
	}
	if c.Model.ID != "" {
		add("id", c.Model.ID)
	}
	if len(c.Metrics.Measures) > 0 {
		add("metrics", strings.Join(c.Metrics.Measures, ","))
	}
	if len(c.Holdout.Valid) > 0 {
		add("valid", fmt.Sprintf("early:%d", c.Holdout.EarlyTerminate))
	}
	// Ranks that start from different weights would average unrelated models.
	if c.Model.Start != (sgd.Start{}) {
		add("initial_weights", fmt.Sprintf("%+v", c.Model.Start))
	}
	if c.LDA.Topics > 0 {
		c.ldaDigest(add)
	}
	c.learnerDigest(add)
	if c.Malt.on() {
		c.maltDigest(add)
	}
	if c.Average.on() {
		c.averageDigest(add)
	}
	add("predict_only_model", c.Model.PredictOnly)
	add("initial_model", c.Model.Initial != "")
	return b.String()
}

// namespaceDigest passes to add the options on which all ranks must agree.
func (c *Config) namespaceDigest(add func(name string, value any)) {
	f := c.features()
	for _, s := range slices.Concat(f.Shaping(), f.Expanding()) {
		if s.Value != "" {
			add(s.Name, s.Value)
		}
	}
}

// lossDigest passes to add the options of the loss and of classes.
func (c *Config) lossDigest(add func(name string, value any)) {
	add("loss_function", c.Loss.Function)
	if c.Loss.Function == "quantile" || c.Loss.Function == "expectile" {
		add("quantile_tau", c.Loss.QuantileTau)
		add("expectile_q", c.Loss.ExpectileQ)
	}
	if c.Loss.LogisticMin.Set || c.Loss.LogisticMax.Set {
		add("logistic_range", fmt.Sprintf("%v:%v,%v:%v", c.Loss.LogisticMin.Set, c.Loss.LogisticMin.Value, c.Loss.LogisticMax.Set, c.Loss.LogisticMax.Value))
	}
	if c.Loss.MinPrediction.Set || c.Loss.MaxPrediction.Set {
		add("prediction_range", fmt.Sprintf("%v:%v,%v:%v", c.Loss.MinPrediction.Set, c.Loss.MinPrediction.Value, c.Loss.MaxPrediction.Set, c.Loss.MaxPrediction.Value))
	}
	if c.OAA.Classes > 0 {
		add("oaa", c.OAA.Classes)
		add("oaa_subsample", c.OAA.Subsample)
		add("indexing", fmt.Sprintf("%t:%d", c.OAA.Indexing.Set, c.OAA.Indexing.Value))
		add("probabilities", c.OAA.Probabilities)
	}
}

// batchDigest passes to add the settings of the batch solver. Without a second-order one the last three have no effect, so
// ranks need not agree on them.
func (c *Config) batchDigest(add func(name string, value any)) {
	add("l2", c.Reg.L2)
	add("mem", c.Batch.Mem.Value)
	add("termination", c.Batch.Termination.Value)
	add("hessian_on", c.Batch.HessianOn)
	add("no_bias_regularization", c.Reg.NoBias)
	add("input_feature_regularizer", c.Reg.Input != "")
	add("output_feature_regularizer", c.keepsHessian())
	add("bfgs_semantics", c.Batch.Semantics)
	if c.Batch.second() {
		add("solver", c.Batch.Solver)
		add("hessian_sample", c.Batch.HessianSample)
		add("sample_seed", c.Batch.SampleSeed)
	}
}

// ruleDigest passes to add the settings of SGD, with the defaults filled in: a rank that gives a default agrees with one
// that leaves it out.
func (c *Config) ruleDigest(add func(name string, value any), rule sgd.Config) {
	add("rule", fmt.Sprintf("adaptive:%t,normalized:%t,invariant:%t", rule.Adaptive, rule.Normalized, rule.Invariant))
	add("learning_rate", rule.LearningRate)
	add("power_t", rule.PowerT)
	add("initial_t", rule.InitialT)
	add("decay_learning_rate", rule.DecayLearningRate)
	add("adax", rule.Adax)
	add("masked", rule.Masked)
	add("sparse_l2", rule.SparseL2)
	add("l1_state", c.Reg.L1State)
	add("l2_state", c.Reg.L2State.Or(1))
	add("l1", rule.L1)
	add("sgd_l2", rule.L2)
}

// maltDigest passes to add the settings of asynchronous training.
func (c *Config) maltDigest(add func(name string, value any)) {
	if g := c.Malt.Custom; g != nil {
		digest := g.Digest()
		add("malt", fmt.Sprintf("file:%x", digest[:6])) // ranks may have the file under different names
	} else {
		add("malt", c.Malt.Graph)
	}
	s := c.maltStage(new(usage.Faults))
	add("sync", s.Sync)
	add("cb_size", s.Every)
	add("malt_send", fmt.Sprintf("%v:%d", s.Send, s.Whole))
	add("outer", fmt.Sprintf("%g:%g", s.Outer.Rate, s.Outer.Momentum))
	add("max_delay", s.MaxDelay)
	add("malt_compress", c.Malt.Compress)
}

// averageDigest passes to add the settings of model averaging.
func (c *Config) averageDigest(add func(name string, value any)) {
	add("aggregate", c.Average.Aggregate)
	batch, every := c.Average.amounts(new(usage.Faults))
	add("batch", fmt.Sprintf("%d:%g", batch.N, batch.Share))
	add("average_every", fmt.Sprintf("%d:%g:%g", every.Amount.N, every.Amount.Share, every.Random))
	add("average_seed", c.Data.ShuffleSeed)
	add("outer", fmt.Sprintf("%g:%g", c.Outer.Rate, c.Outer.Momentum))
}
