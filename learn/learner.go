// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"math"
	"slices"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/learn/internal/batchstage"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/sgdstage"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/optim/sgd"
)

// newAudit returns nil if no output needs the names of features. sums shows the adaptive sums
// beside the weights.
func (c *Config) newAudit(sums bool) *output.Audit {
	if !c.named() {
		return nil
	}
	return output.NewAudit(c.Output.Audit, c.Model.InvertHash != "", sums)
}

// named reports whether the parser must keep the names of features, which costs time and
// memory.
func (c *Config) named() bool { return c.Output.Audit != nil || c.Model.InvertHash != "" }

// mixes reports whether the batch solver is conjugate gradients, as --mem 0 makes it in vw.
func (c *Config) mixes() bool { return c.Batch.Mem.Value == 0 }

// solver returns the batch solver with its regulariser: prior if it is set, and L2 otherwise.
func (c *Config) solver(prior descent.Penalty) batchstage.SolverConfig {
	p := prior
	if p.Precision == nil {
		p.L2 = c.Reg.L2
	}
	// The constant has the same index in every model, cut to the number of weights.
	if c.Reg.NoBias {
		p.Free = []uint32{feature.ConstantIndex & uint32(1<<c.Features.Bits-1)}
	}
	return batchstage.SolverConfig{Method: methods[c.Batch.Solver], Sample: c.Batch.HessianSample, Seed: c.Batch.SampleSeed, Mem: c.Batch.Mem.Value, Penalty: p, Termination: c.Batch.Termination.Value, HessianOn: c.Batch.HessianOn, Semantics: c.Batch.Semantics}
}

// methods are the values of BatchConfig.Solver.
var methods = map[string]batchstage.Method{
	"": batchstage.Pairs, "lbfgs": batchstage.Pairs, "newton": batchstage.Newton, "giant": batchstage.GIANT, "auto": batchstage.Auto,
}

// second reports whether the batch solver needs second derivatives between its gradients.
func (c *BatchConfig) second() bool { return methods[c.Solver] != batchstage.Pairs }

// predictsFirst reports whether vw calls predict before each call of learn. The learn of its
// other learners also returns the prediction. --extra_metrics counts both calls.
func (c *Config) predictsFirst() bool {
	for _, s := range c.Learner.learners() {
		if s.PredictsFirst {
			return true
		}
	}
	return c.Batch.BFGS || c.OAA.Classes > 0 || len(c.Data.ClassWeights) > 0 || c.FTRL.Rule == ftrl.Proximal || c.FTRL.Rule == ftrl.Coin
}

// ftrlNumbers returns α and β of the FTRL family.
func (c *Config) ftrlNumbers() (alpha, beta float32) {
	alpha, beta = c.FTRL.Rule.Defaults()
	return c.FTRL.Alpha.Or(alpha), c.FTRL.Beta.Or(beta)
}

// follower returns the field of the FTRL rule with its value, for messages.
func (c *Config) follower() string { return "FTRL.Rule=" + c.FTRL.Rule.String() }

// followerNames are the names of the FTRL family in vw's banner.
var followerNames = map[ftrl.Rule]string{ftrl.Proximal: "Proximal-FTRL", ftrl.Pistol: "PiSTOL", ftrl.Coin: "Coin Betting", ftrl.FreeGrad: "FreeGrad"}

// followerLearner returns the name that vw gives the learner. The name depends on --audit and
// --invert_hash.
func (c *Config) followerLearner() string {
	if c.FTRL.Rule == ftrl.FreeGrad {
		return c.FTRL.Rule.String()
	}
	name := "ftrl-" + followerNames[c.FTRL.Rule]
	if c.named() {
		name += "-audit"
	}
	return name
}

// newHoldoutSet returns the rule for examples that are held out. As in vw a run of one pass
// holds out nothing unless --holdout_after asks for it: no later pass would use the loss.
func newHoldoutSet(c *Config) examples.HoldoutSet {
	return examples.HoldoutSet{
		On:     !c.Holdout.Off && (c.Passes > 1 || c.Hybrid != nil || c.Holdout.After > 0),
		Period: c.Holdout.Period,
		After:  c.Holdout.After,
	}
}

// newOddLabels returns the check for labels that the loss accepts and the user hardly meant.
// With classes -1 and 1 the label 0 lies halfway, which is usual for data with classes 0 and 1.
func (c *Config) newOddLabels(l loss.Loss) tally.OddLabels {
	r, ok := loss.Labels(l)
	half := float32(math.NaN())
	if c.Loss.Function == "logistic" && !c.Loss.LogisticMin.Set && !c.Loss.LogisticMax.Set {
		half = 0
	}
	return tally.OddLabels{Want: r, Half: half, Warns: ok}
}

// newMeasures returns the measures of a run. holdout reports whether examples are held out;
// then only these are measured.
func (c *Config) newMeasures(holdout bool) (tally.Measures, error) {
	if len(c.Metrics.Measures) == 0 && len(c.Holdout.Valid) == 0 {
		return tally.Measures{}, nil
	}
	return tally.NewMeasures(c.Metrics.Measures, c.Loss.Function == "logistic" || c.Loss.Link == "logistic", holdout)
}

// classLabels returns the labels of k classes, as far as the options decide them. Otherwise the data
// decides.
func (c *Config) classLabels(kind feature.LabelKind, k int) sgdstage.ClassLabels {
	l := sgdstage.ClassLabels{Data: c.dataName(), K: k, First: 1, Names: c.OAA.names(), Cluster: c.Cluster.Join != nil, Log: c.Diagnostics.Log}
	switch {
	case kind == feature.MultiLabels:
		l.First, l.Decided = 0, true
		return l
	case kind == feature.ClassLabels && c.OAA.Classes == 0: // of a composed learner
		l.Decided = true
		return l
	}
	l.Decided = c.OAA.Indexing.Set || l.Names != nil
	if c.OAA.Indexing.Set {
		l.First = c.OAA.Indexing.Value
	}
	return l
}

// testsClasses reports whether the run only predicts classes. Then any model with one weight
// per class and feature will do, however it was trained.
func (c *Config) testsClasses() bool { return c.TestOnly && c.OAA.Classes > 0 }

// linksClasses reports whether --link only changes the scores that are shown. With SGD vw also
// learns from the changed scores.
func (c *Config) linksClasses() bool {
	return c.OAA.Probabilities || c.testsClasses() || c.FTRL.Rule != ftrl.None
}

// follows reports whether a learner of the FTRL family runs. The learner of SGD predicts
// classes for models of the family, but cannot write them with their state.
func (c *Config) follows() bool {
	return c.FTRL.Rule != ftrl.None && (!c.testsClasses() || c.keeps())
}

// regularizes reports whether any rank of the job writes output regularisers. All ranks must
// know, since it switches the holdout set off and may add a pass.
func (c *Config) regularizes() bool {
	return c.Reg.OutputOnAnyRank || c.Reg.Output+c.Reg.OutputText != ""
}

// numbersWeights reports whether the vectors of the batch solver have only the weights that occur in the data.
// Those of vw 9 and of priors have all weights.
func (c *Config) numbersWeights() bool {
	return c.Batch.Semantics != optim.VW9 && c.Reg.Input == ""
}

// keepsHessian reports whether training ends with a pass for the Hessian of the output
// regularisers, as in vw 7.10. vw 9 has no such pass.
func (c *Config) keepsHessian() bool {
	return c.regularizes() && !c.TestOnly && (c.Batch.BFGS || c.Hybrid != nil) && c.Batch.Semantics == optim.VW7
}

// updateRule returns the rule of SGD, with vw's defaults (gd.cc) for settings that are not
// given.
func (c *Config) updateRule() (sgd.Config, error) {
	f := c.SGD.options()
	f.Bits, f.Masked = c.Features.Bits, c.Model.FeatureMask != ""
	f.SparseL2, f.L1, f.L2 = c.Reg.SparseL2, c.Reg.L1, c.Reg.L2
	if n := c.Learner.rowBits(); n > 0 {
		f.SGD, f.Bits = true, f.Bits+n
	}
	f.FixedRange = true // the tally follows the labels instead: it also observes those that are held out
	if c.Hybrid != nil {
		f.L2 = c.Reg.SGDL2 // --l2 is for the L-BFGS phase
	}
	rule := f.Config()
	if c.Learner.kept() > 0 { // the defaults are not those of --sgd, and nothing scales the rate
		rule.LearningRate, rule.InitialT = f.LearningRate.Or(0.5), f.InitialT.Or(0)
	}
	return rule, rule.Validate()
}

// labelRange returns the range of predictions before the first example, and reports whether the
// range stays fixed. loaded is the range of a loaded model or regulariser, or nil. As in vw a
// loaded range replaces the options. An option replaces the range of the loss function, also at
// the other end, which is then 0.
func (c *Config) labelRange(l loss.Loss, loaded *loss.Range) (r loss.Range, fixed bool) {
	r, fixed = loss.DefaultRange(l)
	given := c.Loss.MinPrediction.Set || c.Loss.MaxPrediction.Set
	switch {
	// The loaded range was the one in which its weights were learned.
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

// keeps reports whether a run ends with a model that is read later. In a job another rank may
// write it.
func (c *Config) keeps() bool {
	return c.Model.Final+c.Model.Readable+c.Model.InvertHash+c.Reg.Output+c.Reg.OutputText != "" || c.Cluster.Join != nil
}

// forTesting returns the rule without adaptive and normalised sums. Predicting needs weights
// only, which take less memory.
func forTesting(rule sgd.Config) sgd.Config {
	rule.Adaptive, rule.Normalized, rule.Invariant, rule.Adax = false, false, false, false
	return rule
}

// startStates applies --l1_state and --l2_state. Their defaults leave the state of a loaded
// model, as in vw. In a test the state is applied to the weights at once, since no update will
// do it.
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

// dataName returns the name of this rank's data for messages.
func (c *Config) dataName() string {
	switch n := len(c.Data.Inputs); {
	case n == 0:
		return c.Data.Cache
	case n > 1:
		return fmt.Sprintf("%s and %d more", c.Data.Inputs[0].Name, n-1)
	}
	return c.Data.Inputs[0].Name
}

// passLength returns the rule of --initial_pass_length, which depends on the cache.
func (c *Config) passLength() examples.PassLength {
	return examples.PassLength{N: c.Data.PassLength, Cached: c.Data.Cache != ""}
}

// applyPrecedence applies the precedence of options, which is vw's, when those of a loaded model are
// known. Without a holdout option the hybrid holds out nothing. A validation set replaces the
// holdout set. applyPrecedence reports whether output regularisers switch the holdout set off, as in vw.
func (c *Config) applyPrecedence() (unheld bool) {
	if c.OAA.Classes > 0 && c.OAA.Probabilities {
		c.OAA.Scores, c.Loss.Link = false, "identity"
	}
	if c.OAA.Subsample >= c.OAA.Classes {
		c.OAA.Subsample = 0
	}
	// Topics are learned from every document: a held-out one has no label to measure by.
	if c.LDA.Topics > 0 || c.Hybrid != nil && !c.given.holdout || len(c.Holdout.Valid) > 0 {
		c.Holdout.Off = true
	}
	unheld = c.regularizes() && newHoldoutSet(c).On
	c.Holdout.Off = c.Holdout.Off || unheld
	return unheld
}

// maxPasses returns the number of passes if training does not stop early.
func (c *Config) maxPasses() int {
	if c.Hybrid != nil {
		return c.Hybrid.SGDPasses + c.Hybrid.LBFGSPasses
	}
	return c.Passes
}

// startWeights sets the first of each stride floats to the weight that training by the rule
// starts from. It also leaves the generator in the state in which drawing left it. Where vw
// sets the adaptive sums to InitialT, it overwrites the weights with them, even those that were
// drawn.
func (c *Config) startWeights(w []float32, stride int, rule sgd.Config) {
	c.Model.Start.Seed = c.Model.Start.Fill(w, stride, stride)
	if rule.Adaptive && rule.InitialT > 0 {
		c.Model.Start.Set(w, stride)
	}
}

// startConstant sets the weight of the constant feature to --constant. stride is the number of
// floats of a weight.
func (c *Config) startConstant(w []float32, stride int) {
	if c.Features.Constant != 0 {
		f := c.features()
		w[int(feature.ConstantIndex&f.Mask())*stride] = c.Features.Constant
	}
}

// newValidation returns the validation set of a run, or nil if there is none. Its table shows
// one measure beside the loss: the AUC, or one for classes.
func (c *Config) newValidation() (*tally.Validation, error) {
	if len(c.Holdout.Valid) == 0 {
		return nil, nil
	}
	// The set is parsed as the training data is, but read without a cache.
	v := *c
	v.Data.Inputs, v.Data.Cache, v.Data.KillCache = c.Holdout.Valid, "", false
	data, err := stream.NewDataset(dataset(&v))
	if err != nil {
		return nil, err
	}
	if c.LDA.Topics > 0 {
		patience := 0
		if c.given.holdout {
			patience = c.Holdout.EarlyTerminate
		}
		return tally.NewHeldOut(c.Holdout.Valid[0].Name, data, patience), nil
	}
	// The line of each pass shows the measure that suits the predictions.
	also := metric.AUC
	switch {
	case c.OAA.Probabilities:
		also = metric.LogLoss
	case c.OAA.Classes > 0:
		also = metric.Accuracy
	}
	set := c.Metrics.Measures
	if !set.Has(also) {
		set = append(slices.Clone(set), also)
	}
	return tally.NewValidation(c.Holdout.Valid[0].Name, data, set, also, c.Holdout.EarlyTerminate), nil
}
