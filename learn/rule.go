// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/sgd"
)

// updateRule is the rule of SGD, with vw's defaults for what was not given.
func (c *Config) updateRule() (sgd.Config, error) {
	f := sgd.Flags{
		Bits: c.Bits,
		SGD:  c.SGD, Adaptive: c.Adaptive, Normalized: c.Normalized, Invariant: c.Invariant,
		LearningRate: c.LearningRate, LearningRateSet: c.LearningRateSet,
		PowerT: c.PowerT, PowerTSet: c.PowerTSet,
		InitialT: c.InitialT, InitialTSet: c.InitialTSet,
		DecayLearningRate: c.DecayLearningRate,
		Adax:              c.Adax,
		Masked:            c.FeatureMask != "",
		SparseL2:          c.SparseL2,
		L1:                c.L1,
		L2:                c.L2,
		FixedRange:        true, // the session follows the labels: it sees the held-out ones too
	}
	if c.Hybrid != nil {
		f.L2 = c.SGDL2 // --l2 is phase 2's
	}
	rule := f.Config()
	return rule, rule.Validate()
}

// newLoss is the loss function with its parameters.
func (c *Config) newLoss() (loss.Loss, error) {
	classes := loss.Range{Min: -1, Max: 1}
	if c.LogisticMinSet {
		classes.Min = c.LogisticMin
	}
	if c.LogisticMaxSet {
		classes.Max = c.LogisticMax
	}
	return loss.NewWith(c.Loss, loss.Params{Tau: c.QuantileTau, Expectile: c.ExpectileQ, Logistic: classes})
}

// labelRange is the range of predictions before the first example, and whether
// it stays as it is. loaded is what a loaded file knows of it, or nil. As in vw
// that wins over options; and an option wins over the loss function, also at the
// other end, which is then 0.
func (c *Config) labelRange(l loss.Loss, loaded *loss.Range) (r loss.Range, fixed bool) {
	r, fixed = loss.DefaultRange(l)
	given := c.MinPredictionSet || c.MaxPredictionSet
	switch {
	case loaded != nil:
		r = *loaded
	case given:
		r = loss.Range{}
		if c.MinPredictionSet {
			r.Min = c.MinPrediction
		}
		if c.MaxPredictionSet {
			r.Max = c.MaxPrediction
		}
	}
	return r, fixed || c.TestOnly || given
}

// keeps reports whether a run ends with a model that somebody will read. On a
// cluster that may be another rank.
func (c *Config) keeps() bool {
	return c.FinalModel+c.ReadableModel+c.InvertHash+c.OutputRegularizer+c.OutputRegularizerTxt != "" || c.Cluster != nil
}

// forTesting is the rule with nothing but weights: all that predicting needs.
func forTesting(rule sgd.Config) sgd.Config {
	rule.Adaptive, rule.Normalized, rule.Adax = false, false, false
	return rule
}

// startStates sets what --l1_state and --l2_state ask for. Their defaults leave what
// a loaded model has, as in vw. A test applies it to the weights at once.
func (c *Config) startStates(l *sgd.Learner) {
	sc := l.Scalars()
	if c.L1State != 0 {
		sc.Gravity = c.L1State
	}
	if v := c.L2State.Or(1); v != 1 {
		sc.Contraction = v
	}
	l.SetScalars(sc)
	if c.TestOnly {
		l.Materialize()
	}
}
