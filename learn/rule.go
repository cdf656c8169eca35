// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/sgd"
)

// updateRule is the rule of SGD, with vw's defaults for what was not given.
func (c *Config) updateRule() (sgd.Config, error) {
	f := sgd.Flags{
		Bits: c.Features.Bits,
		SGD:  c.SGD.Plain, Adaptive: c.SGD.Adaptive, Normalized: c.SGD.Normalized, Invariant: c.SGD.Invariant,
		LearningRate: c.SGD.LearningRate.Value, LearningRateSet: c.SGD.LearningRate.Set,
		PowerT: c.SGD.PowerT.Value, PowerTSet: c.SGD.PowerT.Set,
		InitialT: c.SGD.InitialT.Value, InitialTSet: c.SGD.InitialT.Set,
		DecayLearningRate: c.SGD.DecayLearningRate,
		Adax:              c.SGD.Adax,
		Masked:            c.Model.FeatureMask != "",
		SparseL2:          c.Reg.SparseL2,
		L1:                c.Reg.L1,
		L2:                c.Reg.L2,
		FixedRange:        true, // the session follows the labels: it sees the held-out ones too
	}
	if c.Hybrid != nil {
		f.L2 = c.Reg.SGDL2 // --l2 is phase 2's
	}
	rule := f.Config()
	return rule, rule.Validate()
}

// newLoss is the loss function with its parameters.
func (c *Config) newLoss() (loss.Loss, error) {
	classes := loss.Range{Min: -1, Max: 1}
	if c.Loss.LogisticMin.Set {
		classes.Min = c.Loss.LogisticMin.Value
	}
	if c.Loss.LogisticMax.Set {
		classes.Max = c.Loss.LogisticMax.Value
	}
	return loss.NewWith(c.Loss.Function, loss.Params{Tau: c.Loss.QuantileTau, Expectile: c.Loss.ExpectileQ, Logistic: classes})
}

// labelRange is the range of predictions before the first example, and whether
// it stays as it is. loaded is what a loaded file knows of it, or nil. As in vw
// that wins over options; and an option wins over the loss function, also at the
// other end, which is then 0.
func (c *Config) labelRange(l loss.Loss, loaded *loss.Range) (r loss.Range, fixed bool) {
	r, fixed = loss.DefaultRange(l)
	given := c.Loss.MinPrediction.Set || c.Loss.MaxPrediction.Set
	switch {
	case loaded != nil:
		r = *loaded
	case given:
		r = loss.Range{}
		if c.Loss.MinPrediction.Set {
			r.Min = c.Loss.MinPrediction.Value
		}
		if c.Loss.MaxPrediction.Set {
			r.Max = c.Loss.MaxPrediction.Value
		}
	}
	return r, fixed || c.TestOnly || given
}

// keeps reports whether a run ends with a model that somebody will read. On a
// cluster that may be another rank.
func (c *Config) keeps() bool {
	return c.Model.Final+c.Model.Readable+c.Model.InvertHash+c.Reg.Output+c.Reg.OutputText != "" || c.Cluster.Join != nil
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
	if c.Reg.L1State != 0 {
		sc.Gravity = c.Reg.L1State
	}
	if v := c.Reg.L2State.Or(1); v != 1 {
		sc.Contraction = v
	}
	l.SetScalars(sc)
	if c.TestOnly {
		l.Materialize()
	}
}
