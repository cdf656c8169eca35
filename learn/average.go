// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/learn/internal/avgstage"
	"github.com/gvw-project/gvw/learn/internal/trainer"
	"github.com/gvw-project/gvw/learn/internal/usage"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/optim/masgd"
	"github.com/gvw-project/gvw/optim/outer"
	"github.com/gvw-project/gvw/option"
)

// AverageConfig configures training by model averaging (package masgd): ranks average their models several times in a
// pass, or add up their gradients. All ranks have the same settings. The update rule is that of SGD.Plain or
// SGD.Invariant. With SGD.Adaptive or SGD.Normalized it is vw's, and models have its sums. In a Hybrid, L-BFGS
// continues from the averages. An average is a reduce-scatter and an all-gather; where Cluster.Join.Schedule names a
// schedule, it is one all-reduce by that schedule.
type AverageConfig struct {
	// Aggregate is "model", which averages the models that the ranks have learned by themselves, or "gradient", which
	// makes one step along the sum of all gradients. Empty: ranks average at the end of each pass, as vw does.
	Aggregate string
	// Batch is a number of examples of each rank, a fraction of them, such as 0.01, or "all": the examples of a local step of
	// "model" (empty: 1), or of a common step of "gradient" (empty: 0.01).
	Batch string
	// Every is the time between two averages of "model": "pass", a number of examples of each rank, a fraction of
	// them, or "random:P", after each local step with probability P and with control variates. Empty: pass.
	// Without Aggregate it is the time between two merges of the replicas of SGD.Threads, "pass" or a number of
	// examples of each replica. Empty: 65536 features of all replicas together.
	Every string
}

// Values of AverageConfig.Aggregate.
const (
	aggregateModel    = "model"
	aggregateGradient = "gradient"
)

// OuterConfig configures the outer optimiser, which steps from the weights of the last exchange along the mean of
// what the ranks have learned since (package outer). It needs AverageConfig or MaltConfig.
type OuterConfig struct {
	Rate     float64 // η, the length of the step; 0: 1, to the mean
	Momentum float64 // μ of its Nesterov momentum, less than 1; 0: none
}

// Validate reports every fault of the group at once.
func (c *OuterConfig) Validate() error {
	var f usage.Faults
	if err := outer.Config(*c).Validate(); err != nil {
		f.Add("Outer.Rate", "%v", err)
	}
	return f.Err()
}

// on reports whether ranks aggregate by this group.
func (c *AverageConfig) on() bool { return c.Aggregate != "" }

// random reports whether moments are random, which implies control variates.
func (c *AverageConfig) random() bool {
	every, err := masgd.ParseEvery(c.Every)
	return err == nil && every.Random > 0
}

// amounts returns the batch and the moments. f gets the faults of fields that are texts.
func (c *AverageConfig) amounts(f *usage.Faults) (batch masgd.Amount, every masgd.Every) {
	var err error
	switch {
	case c.Batch != "":
		if batch, err = masgd.ParseAmount(c.Batch); err != nil {
			f.Add("Average.Batch", "%v", err)
		}
	case c.Aggregate == aggregateGradient:
		batch.Share = 0.01
	}
	if c.Every != "" {
		if every, err = masgd.ParseEvery(c.Every); err != nil {
			f.Add("Average.Every", "%v", err)
		}
	}
	return batch, every
}

// Validate reports every fault of the group at once.
func (c *AverageConfig) Validate() error {
	var f usage.Faults
	switch c.Aggregate {
	case "":
		if c.Batch != "" {
			f.Add("Average.Aggregate", "it is missing, and without it the other options of averaging have no effect")
		}
	case aggregateModel:
	case aggregateGradient:
		if c.Every != "" {
			f.Add("Average.Every", "gradients are added up after each learn.Config.Average.Batch: leave it out")
		}
	default:
		f.Add("Average.Aggregate", "%q: want %s or %s", c.Aggregate, aggregateModel, aggregateGradient)
	}
	c.amounts(&f)
	return f.Err()
}

// averagesSums reports whether ranks average the sums of vw's adaptive or normalised rule beside the weights. Its steps
// and averages are those of SGD without AverageConfig, which has the rest of the rules.
func (c *Config) averagesSums() bool {
	return c.Average.on() && (c.SGD.Adaptive || c.SGD.Normalized || c.SGD.Adax)
}

// averageDefaults sets the update rule of averaging where none is given.
func (c *Config) averageDefaults() {
	if !c.Average.on() || c.LDA.Topics > 0 || c.averagesSums() {
		return
	}
	if s := &c.SGD; !s.Plain && !s.Adaptive && !s.Normalized && !s.Invariant {
		s.Invariant = c.Average.Aggregate == aggregateModel && !c.singleSteps()
		s.Plain = !s.Invariant
	}
	if !c.SGD.LearningRate.Set {
		c.SGD.LearningRate = option.Some[float32](0.5)
	}
}

// singleSteps reports whether steps are plain: those of batches and those with control variates.
func (c *Config) singleSteps() bool {
	return c.Average.Batch != "" && c.Average.Batch != "1" || c.Average.random()
}

// validateAverage reports options that contradict averaging.
func (c *Config) validateAverage(f *usage.Faults) {
	moved := c.Outer != OuterConfig{}
	if !c.Average.on() {
		c.validateMerges(f)
		if moved && !c.Malt.on() {
			f.Add("Outer.Rate", "it needs learn.Config.Average.Aggregate or learn.Config.Malt.Graph")
		}
		return
	}
	const field = "Average.Aggregate"
	if c.LDA.Topics > 0 {
		c.validateTopicRounds(f)
		return
	}
	switch {
	case c.TestOnly:
		f.Add(field, "nothing is learned: leave it out with learn.Config.TestOnly")
	case c.Batch.BFGS:
		f.Add(field, "L-BFGS adds up sums of its own: leave learn.Config.Batch.BFGS out, or use learn.Config.Hybrid")
	case c.OAA.Classes > 0:
		f.Add(field, "it is for one model of simple labels: leave learn.Config.OAA.Classes out")
	case c.FTRL.Rule != ftrl.None:
		f.Add(field, "%s is another learner: leave it out", c.follower())
	case c.Malt.on():
		f.Add(field, "learn.Config.Malt.Graph exchanges weights in its own way: leave one of them out")
	case c.named():
		f.Add(field, "the names of features are not kept: train first, then show the model (learn.Config.TestOnly, learn.Config.Model.Initial=MODEL)")
	}
	if c.Data.PassLength > 0 {
		f.Add("Data.PassLength", "learn.Config.Average.Every divides passes: leave it out")
	}
	if c.averagesSums() {
		c.validateAveragedSums(f)
		return
	}
	if c.SGD.Invariant && (c.Average.Aggregate == aggregateGradient || c.singleSteps()) {
		f.Add("SGD.Invariant", "steps of gradients, of batches and with control variates are plain: leave it out")
	}
	if rate := c.SGD.LearningRate.Value; !(rate > 0) {
		f.Add("SGD.LearningRate", "%g: with learn.Config.Average.Aggregate a number above 0 is needed", rate)
	}
	if power := c.SGD.PowerT.Or(0.5); !(power >= 0) {
		f.Add("SGD.PowerT", "%g: with learn.Config.Average.Aggregate a number of 0 or more is needed", power)
	}
	if c.SGD.DecayLearningRate != 1 {
		f.Add("SGD.DecayLearningRate", "with learn.Config.Average.Aggregate rates follow learn.Config.SGD.PowerT: leave it out")
	}
	if c.Reg.SparseL2 != 0 || c.Reg.L1State != 0 || c.Reg.L2State.Or(1) != 1 {
		f.Add("Reg.SparseL2", "with learn.Config.Average.Aggregate give learn.Config.Reg.L1 or learn.Config.Reg.L2")
	}
	if c.Model.FeatureMask != "" {
		f.Add("Model.FeatureMask", "learn.Config.Average.Aggregate changes all weights: leave it out")
	}
	if c.Model.PreserveCounters {
		f.Add("Model.PreserveCounters", "models of learn.Config.Average.Aggregate have no counters: leave it out")
	}
	if c.Average.random() && c.Reg.L1 > 0 {
		f.Add("Reg.L1", "control variates need a smooth loss: use learn.Config.Reg.L2")
	}
	if moved && (c.Average.Aggregate == aggregateGradient || c.Average.random()) {
		f.Add("Outer.Rate", "it needs averages of models, at moments that are not random")
	}
}

// validateAveragedSums reports options that contradict the average of models with sums of an adaptive or normalised rule.
func (c *Config) validateAveragedSums(f *usage.Faults) {
	field := "SGD.Adaptive"
	switch {
	case c.SGD.Adaptive:
	case c.SGD.Normalized:
		field = "SGD.Normalized"
	default:
		field = "SGD.Adax"
	}
	switch {
	case c.Average.Aggregate == aggregateGradient:
		f.Add(field, "adaptive and normalised steps are those of single examples: leave it or learn.Config.Average.Aggregate=gradient out")
	case c.Average.random():
		f.Add(field, "adaptive and normalised models have no control variates: leave it or learn.Config.Average.Every=%s out", c.Average.Every)
	case c.singleSteps():
		f.Add(field, "adaptive and normalised steps are those of single examples: leave it or learn.Config.Average.Batch out")
	}
	if c.Outer != (OuterConfig{}) {
		f.Add(field, "averages of adaptive and normalised models have no outer step: leave it or learn.Config.Outer.Rate and learn.Config.Outer.Momentum out")
	}
}

// validateMerges reports the faults of Average.Every without ranks that average.
func (c *Config) validateMerges(f *usage.Faults) {
	const field = "Average.Every"
	_, every := c.Average.amounts(new(usage.Faults))
	switch {
	case c.Average.Every == "":
	case c.SGD.Threads == 0:
		f.Add(field, "it needs learn.Config.Average.Aggregate or learn.Config.SGD.Threads")
	case every.Random > 0 || every.Amount.Share > 0:
		f.Add(field, "%s: threads merge their weights after a number of examples or after each pass, like 1000 or pass", c.Average.Every)
	}
}

// averaging returns the stage of model averaging.
func (r *runner) averaging(passes int) (trainer.Stage, error) {
	c := &r.cfg
	if c.averagesSums() {
		online, err := r.online(passes, false)
		if err != nil {
			return nil, err
		}
		_, every := c.Average.amounts(new(usage.Faults))
		return avgstage.NewOnline(online, every), nil
	}
	w, err := r.weights()
	if err != nil {
		return nil, err
	}
	c.startConstant(w, 1)
	if err := r.console.OpenTable(); err != nil {
		return nil, err
	}
	o := r.onlineConfig(r.rule, passes)
	a := avgstage.Config{
		Read: o.Read, Tally: o.Tally, Job: o.Job, Models: o.Models, Reweighed: o.Reweighed, Passes: o.Passes,
		Gradient: c.Average.Aggregate == aggregateGradient, Seed: c.Data.ShuffleSeed, Outer: outer.Config(c.Outer),
		InitialT: float64(r.rule.InitialT), Whole: c.Cluster.Join != nil && c.Cluster.Join.Schedule != schedule.Auto,
	}
	a.Batch, a.Every = c.Average.amounts(new(usage.Faults))
	a.Rule = masgd.Config{
		Loss: r.tally.Loss, Rate: float64(r.rule.LearningRate), PowerT: float64(r.rule.PowerT), Invariant: r.rule.Invariant,
		L1: r.rule.L1, L2: r.rule.L2, ConstantRate: a.Every.Random > 0,
	}
	return avgstage.New(a, w)
}

// averageTables returns the tables that averaging allocates besides the weights in any case.
func (c *Config) averageTables() (tables []Amount) {
	weights := uint64(4) << c.Features.Bits
	recovers := c.Cluster.Join != nil && c.Cluster.Join.Total > 1 && c.Cluster.Join.OnLoss != allreduce.Abort
	add := func(name string, floats uint64) { tables = append(tables, Amount{name, floats * weights}) }
	switch {
	case c.Average.Aggregate == aggregateGradient:
		add("gradient, and its sums in float64", 3)
	case recovers:
		add("replica of this rank", 1)
	}
	if recovers || c.Average.random() {
		add("averages", 1)
	}
	if c.Average.random() {
		add("control variates", 2)
	}
	if c.Reg.L1 > 0 && c.Average.Aggregate == aggregateModel {
		add("truncation of each weight in float64", 2)
	}
	if c.Outer != (OuterConfig{}) {
		add("weights and velocities of the outer optimiser", 2)
		if len(c.Holdout.Valid) > 0 {
			add("weights after the outer step, for the validation set", 1)
		}
	}
	return tables
}

// averageMethod returns the name of the method for a plan.
func (c *Config) averageMethod() string {
	return fmt.Sprintf("learn by SGD with aggregation of each rank's %s", c.Average.Aggregate)
}
