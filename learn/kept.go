// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"strconv"

	"github.com/gvw-project/gvw/internal/compat"
	"github.com/gvw-project/gvw/internal/merand"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// keptOptions are the options that a model keeps, as vw keeps them: what shapes
// features and predictions always, the update rule only with resume state.
// Unlike vw they leave --bfgs out, which vw 9 cannot load without further
// options: a model predicts the same however it was trained.
func (c *Config) keptOptions(resume bool) []model.Option {
	var kept []model.Option
	flag := func(on bool, name string) {
		if on {
			kept = append(kept, model.Option{Name: name})
		}
	}
	kept = append(kept, c.Namespaces.kept()...)
	if c.HashAll || c.HashSet {
		kept = append(kept, model.Option{Name: "hash", Value: c.hash()})
	}
	if c.HashSeed != 0 || c.SeedSet {
		kept = append(kept, model.Option{Name: "hash_seed", Value: strconv.FormatUint(uint64(c.HashSeed), 10)})
	}
	if c.LinkSet || c.Link != "identity" {
		kept = append(kept, model.Option{Name: "link", Value: c.Link})
	}
	flag(c.NoConstant, "noconstant")
	flag(c.Binary, "binary")
	flag(c.FTRL != ftrl.None, c.FTRL.String())
	if c.OAA > 0 {
		kept = append(kept, model.Option{Name: "oaa", Value: strconv.Itoa(c.OAA)})
		flag(resume && c.FTRL == ftrl.None, "per_model_save_load")
	}
	if c.IndexingSet {
		kept = append(kept, model.Option{Name: "indexing", Value: strconv.Itoa(c.Indexing)})
	}
	if c.NamedLabels != "" {
		kept = append(kept, model.Option{Name: "named_labels", Value: c.NamedLabels})
	}
	if c.Start.Seed != 0 {
		kept = append(kept, model.Option{Name: "random_seed", Value: strconv.FormatUint(uint64(c.Start.Seed), 10)})
	}
	if !resume {
		return kept
	}
	flag(c.SGD, "sgd")
	flag(c.Adaptive, "adaptive")
	flag(c.Normalized, "normalized")
	flag(c.Invariant, "invariant")
	if c.LearningRateSet {
		kept = append(kept, model.FloatOption("learning_rate", c.LearningRate))
	}
	if c.PowerTSet {
		kept = append(kept, model.FloatOption("power_t", c.PowerT))
	}
	return kept
}

// hash is the value of --hash.
func (c *Config) hash() string {
	if c.HashAll {
		return "all"
	}
	return "strings"
}

// takeOptions merges what a model kept into c. As in vw the command line's
// learning rate, power_t and interactions replace the model's; other scalars
// must agree.
func (c *Config) takeOptions(name string, h *model.Header) error {
	if h.LDA != 0 {
		return &DataError{Name: name, Text: "the model was trained with topics, which gvw does not support yet"}
	}
	for _, o := range h.Options {
		if isNamespaceOption(o.Name) {
			continue
		}
		if err := c.takeOption(name, o); err != nil {
			return err
		}
	}
	return c.Namespaces.take(name, h)
}

func (c *Config) takeOption(name string, o model.Option) error {
	disagree := func(given string) error {
		return usage("--"+o.Name, "Disagreeing option values for '%s': '%s' vs '%s' (of %s)", o.Name, given, o.Value, name)
	}
	switch o.Name {
	case "hash":
		if c.HashSet && c.hash() != o.Value {
			return disagree(c.hash())
		}
		c.HashAll, c.HashSet = o.Value == "all", true
	case "hash_seed":
		seed, err := strconv.ParseUint(o.Value, 10, 32)
		if err != nil {
			return &DataError{Name: name, Text: fmt.Sprintf("kept option --hash_seed %q is no number", o.Value)}
		}
		if c.SeedSet && c.HashSeed != uint32(seed) {
			return disagree(strconv.FormatUint(uint64(c.HashSeed), 10))
		}
		c.HashSeed, c.SeedSet = uint32(seed), true
	case "link":
		if c.Link != "identity" && c.Link != o.Value {
			return disagree(c.Link)
		}
		c.Link, c.LinkSet = o.Value, true
	case "ftrl", "pistol", "coin":
		rule, _ := ftrl.Named(o.Name)
		if c.FTRL != ftrl.None && c.FTRL != rule {
			return usage(c.follower(), "%s was trained with --%s", name, o.Name)
		}
		c.FTRL = rule
	case "oaa":
		k, err := strconv.Atoi(o.Value)
		if err != nil || k < 1 {
			return &DataError{Name: name, Text: fmt.Sprintf("kept option --oaa %q is no number of classes", o.Value)}
		}
		if c.OAA != 0 && c.OAA != k {
			return disagree(strconv.Itoa(c.OAA))
		}
		c.OAA = k
	case "per_model_save_load": // as gvw always does
	case "indexing":
		if c.IndexingSet && strconv.Itoa(c.Indexing) != o.Value {
			return disagree(strconv.Itoa(c.Indexing))
		}
		c.Indexing, c.IndexingSet = 1, true
		if o.Value == "0" {
			c.Indexing = 0
		}
	case "named_labels":
		if c.NamedLabels != "" && c.NamedLabels != o.Value {
			return disagree(c.NamedLabels)
		}
		c.NamedLabels = o.Value
	case "random_seed": // the state of the generator
		state, err := strconv.ParseUint(o.Value, 10, 64)
		if err != nil {
			return &DataError{Name: name, Text: fmt.Sprintf("kept option --random_seed %q is no number", o.Value)}
		}
		if c.Start.Seed == 0 {
			c.Start.Seed = merand.State(state)
		}
	case "noconstant":
		c.NoConstant = true
	case "binary":
		c.Binary = true
	case "bfgs":
		c.BFGS = c.Hybrid == nil
	case "conjugate_gradient":
		c.ConjugateGradient = c.Hybrid == nil
	case "sgd":
		c.SGD = true
	case "adaptive":
		c.Adaptive = true
	case "normalized":
		c.Normalized = true
	case "invariant":
		c.Invariant = true
	case "learning_rate", "power_t":
		v, err := strconv.ParseFloat(o.Value, 32)
		if err != nil {
			return &DataError{Name: name, Text: fmt.Sprintf("kept option --%s %q is no number", o.Name, o.Value)}
		}
		if o.Name == "power_t" && !c.PowerTSet {
			c.PowerT, c.PowerTSet = float32(v), true
		}
		if o.Name == "learning_rate" && !c.LearningRateSet {
			c.LearningRate, c.LearningRateSet = float32(v), true
		}
	default:
		if known, ok := compat.Find(o.Name); ok && known.Accepted() {
			return nil // of a learner that was not enabled: predictions do not depend on it
		}
		return &DataError{Name: name, Text: fmt.Sprintf("the model was trained with --%s, which gvw does not support yet", o.Name)}
	}
	return nil
}
