// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"strconv"

	"github.com/gvw-project/gvw/internal/compat"
	"github.com/gvw-project/gvw/internal/merand"
	"github.com/gvw-project/gvw/learn/internal/modelsource"
	"github.com/gvw-project/gvw/learn/internal/namespaces"
	"github.com/gvw-project/gvw/learn/internal/reductions"
	"github.com/gvw-project/gvw/learn/internal/usage"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/option"
)

// newModelSource returns what makes the models of the run.
func (r *runner) newModelSource() *modelsource.Source {
	return &modelsource.Source{Job: r.job, Tally: r.tally, Create: r.create, Describe: r.describeModel, Name: r.passModel}
}

// passModel returns the name of the model of a pass; "": it is not saved.
func (r *runner) passModel(pass int) string {
	c := &r.cfg
	if !c.Model.SavePerPass || c.Model.Final == "" && c.Cluster.Join != nil { // another rank writes it
		return ""
	}
	return fmt.Sprintf("%s.%d", c.Model.Final, pass)
}

// describeModel returns the header of a model, except the range of labels.
func (r *runner) describeModel(resume bool) model.Header {
	c := &r.cfg
	if r.fromZero != nil && r.fromZero() { // otherwise a later test would count classes from 1
		c.OAA.Indexing = option.Some(0)
	}
	return c.modelHeader(resume)
}

// modelHeader returns the header of a model of the configuration, except the range of labels.
func (c *Config) modelHeader(resume bool) model.Header {
	n := &c.Features.Namespaces
	return model.Header{
		ID: c.Model.ID, Bits: c.Features.Bits, Options: c.modelOptions(resume),
		NGrams: namespaces.PlainWords(n.NGrams), Skips: namespaces.PlainWords(n.Skips),
	}
}

// modelOptions returns the options that a model keeps. As in vw these are the options that
// shape features and predictions, and with resume state also those of the update rule.
//
// Unlike vw they leave --bfgs out. vw 9 cannot load a model that keeps it without further
// options, and a model predicts the same however it was trained.
func (c *Config) modelOptions(resume bool) []model.Option {
	var kept []model.Option
	flag := func(on bool, name string) {
		if on {
			kept = append(kept, model.Option{Name: name})
		}
	}
	kept = append(kept, c.Features.Namespaces.Model()...)
	if c.Features.Hash != "" {
		kept = append(kept, model.Option{Name: "hash", Value: c.Features.Hash})
	}
	// A seed of 0 is kept if it was given, so that a later run with another seed is refused.
	if c.Features.HashSeed.Value != 0 || c.Features.HashSeed.Set {
		kept = append(kept, model.Option{Name: "hash_seed", Value: strconv.FormatUint(uint64(c.Features.HashSeed.Value), 10)})
	}
	if c.given.link || c.Loss.Link != "identity" {
		kept = append(kept, model.Option{Name: "link", Value: c.Loss.Link})
	}
	flag(c.Features.NoConstant, "noconstant")
	flag(c.Loss.Binary, "binary")
	flag(c.FTRL.Rule != ftrl.None, c.FTRL.Rule.String())
	if c.OAA.Classes > 0 {
		kept = append(kept, model.Option{Name: "oaa", Value: strconv.Itoa(c.OAA.Classes)})
		flag(resume && c.FTRL.Rule == ftrl.None, "per_model_save_load")
	}
	if c.OAA.Indexing.Set {
		kept = append(kept, model.Option{Name: "indexing", Value: strconv.Itoa(c.OAA.Indexing.Value)})
	}
	if c.OAA.NamedLabels != "" {
		kept = append(kept, model.Option{Name: "named_labels", Value: c.OAA.NamedLabels})
	}
	if c.Model.Start.Seed != 0 {
		kept = append(kept, model.Option{Name: "random_seed", Value: strconv.FormatUint(uint64(c.Model.Start.Seed), 10)})
	}
	if c.LDA.Topics > 0 {
		return append(kept, c.ldaOptions()...)
	}
	kept = append(kept, c.learnerOptions()...)
	// The rule matters only to training. A model without resume state has no sums to continue
	// from.
	if !resume {
		return kept
	}
	flag(c.SGD.Plain, "sgd")
	flag(c.SGD.Adaptive, "adaptive")
	flag(c.SGD.Normalized, "normalized")
	flag(c.SGD.Invariant, "invariant")
	if c.SGD.LearningRate.Set {
		kept = append(kept, model.FloatOption("learning_rate", c.SGD.LearningRate.Value))
	}
	if c.SGD.PowerT.Set {
		kept = append(kept, model.FloatOption("power_t", c.SGD.PowerT.Value))
	}
	return kept
}

// takeOptions merges the options that a model keeps into c. As in vw the learning rate, power_t
// and interactions of the command line replace those of the model. Other scalars must agree.
// name is the file, for messages.
func (c *Config) takeOptions(name string, h *model.Header) error {
	if err := c.takeTopics(name, h); err != nil {
		return err
	}
	if err := c.takeLearner(name, h); err != nil {
		return err
	}
	for _, o := range h.Options {
		if _, taken := reductions.Option(o.Name); taken || namespaces.IsOption(o.Name) {
			continue
		}
		if err := c.takeOption(name, o); err != nil {
			return err
		}
	}
	return c.Features.Namespaces.Take(name, h)
}

// takeOption merges one option. A setting that the caller has not given takes the value of the
// model; one that differs is refused in the words of vw.
func (c *Config) takeOption(name string, o model.Option) error {
	// vw prints this sentence when an option on the command line differs from the kept one.
	disagree := func(field, given string) error {
		return usage.New(field, "Disagreeing option values for '%s': '%s' vs '%s' (of %s)", o.Name, given, o.Value, name)
	}
	if c.takeFlag(o.Name) {
		return nil
	}
	switch o.Name {
	// Features and predictions: a different value would change the meaning of the weights.
	case "hash":
		if c.Features.Hash != "" && c.Features.Hash != o.Value {
			return disagree("Features.Hash", c.Features.Hash)
		}
		c.Features.Hash = o.Value
	case "hash_seed":
		seed, err := strconv.ParseUint(o.Value, 10, 32)
		if err != nil {
			return &DataError{Name: name, Text: fmt.Sprintf("kept option --hash_seed %q is no number", o.Value)}
		}
		if c.Features.HashSeed.Set && c.Features.HashSeed.Value != uint32(seed) {
			return disagree("Features.HashSeed", strconv.FormatUint(uint64(c.Features.HashSeed.Value), 10))
		}
		c.Features.HashSeed = option.Some(uint32(seed))
	case "link":
		if (c.given.link || c.Loss.Link != "identity") && c.Loss.Link != o.Value {
			return disagree("Loss.Link", c.Loss.Link)
		}
		c.Loss.Link, c.given.link = o.Value, true
	case "ftrl", "pistol", "coin", "freegrad":
		rule, _ := ftrl.Named(o.Name)
		if c.FTRL.Rule != ftrl.None && c.FTRL.Rule != rule {
			return usage.New(c.follower(), "%s was trained with learn.Config.FTRL.Rule=%s", name, o.Name)
		}
		c.FTRL.Rule = rule
	case "oaa":
		k, err := strconv.Atoi(o.Value)
		if err != nil || k < 1 {
			return &DataError{Name: name, Text: fmt.Sprintf("kept option --oaa %q is no number of classes", o.Value)}
		}
		if c.OAA.Classes != 0 && c.OAA.Classes != k {
			return disagree("OAA.Classes", strconv.Itoa(c.OAA.Classes))
		}
		c.OAA.Classes = k
	case "lda", "lda_alphas": // takeTopics has read them
	case "per_model_save_load": // no effect: gvw always keeps the sums of each class
	case "lda_alpha", "lda_rho":
		return c.takePrior(name, o)
	case "indexing":
		if c.OAA.Indexing.Set && strconv.Itoa(c.OAA.Indexing.Value) != o.Value {
			return disagree("OAA.Indexing", strconv.Itoa(c.OAA.Indexing.Value))
		}
		if c.OAA.Indexing = option.Some(1); o.Value == "0" {
			c.OAA.Indexing.Value = 0
		}
	case "named_labels":
		if c.OAA.NamedLabels != "" && c.OAA.NamedLabels != o.Value {
			return disagree("OAA.NamedLabels", c.OAA.NamedLabels)
		}
		c.OAA.NamedLabels = o.Value
	case "random_seed": // the state of the generator, up to 64 bits
		state, err := strconv.ParseUint(o.Value, 10, 64)
		if err != nil {
			return &DataError{Name: name, Text: fmt.Sprintf("kept option --random_seed %q is no number", o.Value)}
		}
		if c.Model.Start.Seed == 0 {
			c.Model.Start.Seed = merand.State(state)
		}
	case "learning_rate":
		return takeRate(&c.SGD.LearningRate, name, o)
	case "power_t":
		return takeRate(&c.SGD.PowerT, name, o)
	default:
		if known, ok := compat.Find(o.Name); ok && known.Accepted() {
			return nil // an option of a learner that was not enabled; predictions do not depend on it
		}
		return &DataError{Name: name, Text: fmt.Sprintf("the model was trained with --%s, which gvw does not support yet", o.Name)}
	}
	return nil
}

// takeFlag sets a flag that a model keeps, and reports whether there is one of that name. It is set in any case: no
// option of vw unsets it.
func (c *Config) takeFlag(name string) bool {
	switch name {
	case "noconstant":
		c.Features.NoConstant = true
	case "binary":
		c.Loss.Binary = true
	case "bfgs":
		c.Batch.BFGS = c.Hybrid == nil
	case "conjugate_gradient":
		c.Batch.ConjugateGradient = c.Hybrid == nil
	// The update rule, from a model with resume state.
	case "sgd":
		c.SGD.Plain = true
	case "adaptive":
		c.SGD.Adaptive = true
	case "normalized":
		c.SGD.Normalized = true
	case "invariant":
		c.SGD.Invariant = true
	default:
		return false
	}
	return true
}

// takeRate sets a number of the update rule that the caller has not given to that of the model.
func takeRate(to *option.Option[float32], name string, o model.Option) error {
	v, err := strconv.ParseFloat(o.Value, 32)
	if err != nil {
		return &DataError{Name: name, Text: fmt.Sprintf("kept option --%s %q is no number", o.Name, o.Value)}
	}
	if !to.Set {
		*to = option.Some(float32(v))
	}
	return nil
}
