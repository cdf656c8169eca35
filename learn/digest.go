// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/optim/sgd"
)

// options is the canonical text of every option on which all ranks must agree.
// The server compares it when a rank joins, and a refusal names the first one
// that differs. What concerns one rank alone (data, cache, files, -P) is not
// in it.
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
	case c.BFGS && c.mixes():
		method = "conjugate_gradient"
	case c.BFGS:
		method = "bfgs"
	}
	add("method", method)
	add("bits", c.Bits)
	add("passes", c.Passes)
	add("loss_function", c.Loss)
	if c.Loss == "quantile" || c.Loss == "expectile" {
		add("quantile_tau", c.QuantileTau)
		add("expectile_q", c.ExpectileQ)
	}
	if c.LogisticMinSet || c.LogisticMaxSet {
		add("logistic_range", fmt.Sprintf("%v:%v,%v:%v", c.LogisticMinSet, c.LogisticMin, c.LogisticMaxSet, c.LogisticMax))
	}
	if c.MinPredictionSet || c.MaxPredictionSet {
		add("prediction_range", fmt.Sprintf("%v:%v,%v:%v", c.MinPredictionSet, c.MinPrediction, c.MaxPredictionSet, c.MaxPrediction))
	}
	if c.OAA > 0 {
		add("oaa", c.OAA)
		add("oaa_subsample", c.OAASubsample)
		add("indexing", fmt.Sprintf("%t:%d", c.IndexingSet, c.Indexing))
		add("probabilities", c.Probabilities)
	}
	add("link", c.Link)
	add("binary", c.Binary)
	if c.Format != "" {
		add("format", c.DataFormat().Name)
	}
	add("hash_all", c.HashAll)
	add("hash_seed", c.HashSeed)
	add("noconstant", c.NoConstant)
	add("constant", c.Constant)
	c.namespaceDigest(add)
	if c.BFGS || c.Hybrid != nil {
		add("l2", c.L2)
		add("mem", c.Mem)
		add("termination", c.Termination)
		add("hessian_on", c.HessianOn)
		add("no_bias_regularization", c.NoBiasRegularization)
		add("input_feature_regularizer", c.InputRegularizer != "")
		add("output_feature_regularizer", c.keepsHessian())
		add("bfgs_semantics", c.Semantics)
	}
	if !c.BFGS {
		add("rule", fmt.Sprintf("adaptive:%t,normalized:%t,invariant:%t", rule.Adaptive, rule.Normalized, rule.Invariant))
		add("learning_rate", rule.LearningRate)
		add("power_t", rule.PowerT)
		add("initial_t", rule.InitialT)
		add("decay_learning_rate", rule.DecayLearningRate)
		add("adax", rule.Adax)
		add("masked", rule.Masked)
		add("sparse_l2", rule.SparseL2)
		add("l1_state", c.L1State)
		add("l2_state", c.L2State.Or(1))
		add("l1", rule.L1)
		add("sgd_l2", rule.L2)
	}
	if c.HoldoutOff {
		add("holdout", "off")
	} else {
		add("holdout", fmt.Sprintf("period:%d,after:%d,early:%d", c.HoldoutPeriod, c.HoldoutAfter, c.EarlyTerminate))
	}
	if len(c.ClassWeights) > 0 {
		add("classweight", c.ClassWeights)
	}
	if c.Shuffle {
		add("shuffle", fmt.Sprintf("%d:%d", c.ShuffleSeed, c.ShuffleMemory))
	}
	if c.ID != "" {
		add("id", c.ID)
	}
	if len(c.Metrics) > 0 {
		add("metrics", strings.Join(c.Metrics, ","))
	}
	if len(c.Valid) > 0 {
		add("valid", fmt.Sprintf("early:%d", c.EarlyTerminate))
	}
	if c.Start != (sgd.Start{}) {
		add("initial_weights", fmt.Sprintf("%+v", c.Start))
	}
	add("predict_only_model", c.PredictOnly)
	add("initial_model", c.InitialModel != "")
	return b.String()
}
