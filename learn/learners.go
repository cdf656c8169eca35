// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/namespaces"
	"github.com/gvw-project/gvw/learn/internal/reduction"
	"github.com/gvw-project/gvw/learn/internal/reductions"
	"github.com/gvw-project/gvw/learn/internal/sgdstage"
	"github.com/gvw-project/gvw/learn/internal/usage"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/optim/sgd"
)

// LearnerConfig configures a learner that is composed of linear ones, such as low-rank interactions.
// Their update rule is that of SGDConfig.
type LearnerConfig struct {
	// Options are the values of the learner's options, by the name of the option; that of a flag is
	// "true". [LearnerOptions] lists them. A model keeps most of them. nil: a linear learner.
	Options map[string][]string
}

// LearnerOption is an option of the learners of LearnerConfig.
type LearnerOption struct {
	Name    string   // key in LearnerConfig.Options
	Learner string   // name of its learner, which the option of the same name enables
	Values  string   // kind of its value: "flag", "count", "number", "word" or "words"
	Arg     string   // name of the value in help; empty for a flag
	Help    string   // one line
	Default string   // in help; empty: none
	Choices []string // values that the option takes; nil: others are checked by Validate
}

// LearnerOptions returns the options of all learners, in the order of help.
func LearnerOptions() []LearnerOption {
	var all []LearnerOption
	for _, s := range reductions.All {
		for _, o := range s.Options {
			all = append(all, LearnerOption{
				Name: o.Name, Learner: s.Name, Values: [...]string{"flag", "count", "number", "word", "words"}[o.Kind],
				Arg: o.Arg, Help: o.Help, Default: o.Default, Choices: o.Choices,
			})
		}
	}
	return all
}

// on reports whether a learner is enabled.
func (c *LearnerConfig) on() bool { return len(c.learners()) > 0 }

// learners returns the learners that are enabled. A valid configuration has one at most.
func (c *LearnerConfig) learners() []reduction.Spec { return reductions.Of(c.Options) }

// field returns the field of an option, for messages.
func (c *LearnerConfig) field(option string) string { return "Learner.Options=" + option }

// name returns the field of the learner, for messages.
func (c *LearnerConfig) name() string { return c.field(c.learners()[0].Name) }

// Validate reports every fault of the group at once. As in vw the options of a learner that is not
// enabled have no effect.
func (c *LearnerConfig) Validate() error {
	var f usage.Faults
	for _, name := range slices.Sorted(maps.Keys(c.Options)) {
		o, ok := reductions.Option(name)
		switch {
		case !ok:
			f.Add("Learner.Options", "no learner has the option %q", name)
		case len(c.Options[name]) == 0 || len(c.Options[name]) > 1 && o.Kind != reduction.Words:
			f.Add(c.field(name), "%d values: want one", len(c.Options[name]))
		case o.Choices != nil && !slices.Contains(o.Choices, c.Options[name][0]):
			f.Add(c.field(name), "%q: want one of %s", c.Options[name][0], strings.Join(o.Choices, ", "))
		}
	}
	on := c.learners()
	for i, s := range on {
		if i > 0 {
			f.Add(c.field(s.Name), "one learner is composed at a time: leave it or learn.Config.%s out", c.field(on[0].Name))
			continue
		}
		_, err := s.New(c.Options)
		for _, err := range joinedErrors(err) {
			fault, ok := errors.AsType[*reduction.Fault](err)
			if !ok {
				fault = &reduction.Fault{Option: s.Name, Text: err.Error()}
			}
			f.Add(c.field(fault.Option), "%s", fault.Text)
		}
	}
	return f.Err()
}

// joinedErrors returns the errors that err joins.
func joinedErrors(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// validateLearner reports options that contradict a composed learner.
func (c *Config) validateLearner(f *usage.Faults) {
	if !c.Learner.on() {
		return
	}
	name := c.Learner.name()
	for _, other := range []struct {
		given bool
		field string
		text  string
	}{
		{c.batches(), "Batch.BFGS", "it is another learner"},
		{c.OAA.Classes > 0, "OAA.Classes", "a learner of classes is composed of linear ones only"},
		{c.FTRL.Rule != ftrl.None, "FTRL.Rule", "the linear learners follow SGD"},
		{c.LDA.Topics > 0, "LDA.Topics", "it is another learner"},
		{c.Malt.on(), "Malt.Graph", "ranks exchange the weights of linear learners only"},
		{c.Average.on(), "Average.Aggregate", "it is for one linear model"},
		{c.named(), "Output.Audit", "the features of the learner have no names"},
		{len(c.Data.ClassWeights) > 0, "Data.ClassWeights", "give the weights in the data instead"},
		{c.Model.FeatureMask != "", "Model.FeatureMask", "it is for one linear model"},
	} {
		if other.given {
			f.Add(other.field, "%s: leave it or learn.Config.%s out", other.text, name)
		}
	}
	spec := c.Learner.learners()[0]
	if spec.Labels != feature.SimpleLabels {
		c.validateLabels(f, spec)
	}
	if plan, err := spec.New(c.Learner.Options); err == nil && plan.Alone != "" && c.Cluster.Join != nil && c.Cluster.Join.Total > 1 {
		f.Add(name, "it is for one process: %s", plan.Alone)
	}
	if spec.Excludes == nil {
		return
	}
	if text := spec.Excludes(c.learnerSetting()); text != "" {
		f.Add(name, "%s", text)
	}
}

// validateLabels reports options that contradict a learner of labels other than simple ones.
func (c *Config) validateLabels(f *usage.Faults, spec reduction.Spec) {
	classes := spec.Labels == feature.ClassLabels
	for _, other := range []struct {
		given bool
		field string
		text  string
	}{
		{c.Loss.Binary, "Loss.Binary", "a class has no sign"},
		{len(c.Metrics.Measures) > 0, "Metrics.Measures", "the measures are of scores, and of learn.Config.OAA.Classes"},
		{len(c.Holdout.Valid) > 0, "Holdout.Valid", "it has the measures of scores; use the holdout set"},
		{c.OAA.NamedLabels != "", "OAA.NamedLabels", "the labels of this learner are numbers"},
		{c.OAA.Probabilities && !classes, "OAA.Probabilities", "only learn.Config.OAA.Classes predicts probabilities"},
		{c.Data.Format != "" && !classes, "Data.Format", "only vw's text has such labels"},
	} {
		if other.given {
			f.Add(other.field, "%s: leave it or learn.Config.%s out", other.text, c.Learner.name())
		}
	}
	if first := c.OAA.Indexing.Or(1); first != 0 && first != 1 {
		f.Add("OAA.Indexing", "%d: labels count from 0 or from 1", first)
	}
}

// labels returns the kind of labels of the data.
func (c *Config) labels() feature.LabelKind {
	if c.OAA.Classes > 0 {
		return feature.ClassLabels
	}
	for _, s := range c.Learner.learners() {
		return s.Labels
	}
	return feature.SimpleLabels
}

// learnerSetting returns what a learner may check of the configuration.
func (c *Config) learnerSetting() reduction.Setting {
	return reduction.Setting{
		Loss: c.Loss.Function, Link: c.Loss.Link, Options: c.Learner.Options,
		Interactions: namespaces.PlainWords(c.Features.Namespaces.Crossed()), IgnoreLinear: c.Features.Namespaces.IgnoreLinear,
		Adaptive: c.SGD.Adaptive, Normalized: c.SGD.Normalized,
	}
}

// learnerOptions returns the options of the learner that a model keeps, as in vw.
func (c *Config) learnerOptions() []model.Option {
	var kept []model.Option
	for _, s := range c.Learner.learners() {
		for _, o := range s.Options {
			for _, v := range c.Learner.Options[o.Name] {
				switch {
				case !o.Kept:
				case o.Kind == reduction.Flag:
					kept = append(kept, model.Option{Name: o.Name})
				default:
					kept = append(kept, model.Option{Name: o.Name, Value: v})
				}
			}
		}
	}
	return kept
}

// takeLearner merges the options of a learner that a model keeps into c. Options that the caller
// has given, too, must have the same values.
func (c *Config) takeLearner(name string, h *model.Header) error {
	kept := map[string][]string{}
	for _, o := range h.Options {
		if _, ok := reductions.Option(o.Name); ok {
			v := o.Value
			if v == "" {
				v = "true"
			}
			kept[o.Name] = append(kept[o.Name], v)
		}
	}
	for _, option := range slices.Sorted(maps.Keys(kept)) {
		given := c.Learner.Options[option]
		if len(given) > 0 && !slices.Equal(slices.Sorted(slices.Values(given)), slices.Sorted(slices.Values(kept[option]))) {
			return usage.New(c.Learner.field(option), "Disagreeing option values for '%s': '%s' vs '%s' (of %s)", option, strings.Join(given, " "), strings.Join(kept[option], " "), name)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	merged := maps.Clone(c.Learner.Options) // the caller owns the map
	if merged == nil {
		merged = map[string][]string{}
	}
	maps.Copy(merged, kept)
	c.Learner.Options = merged
	return nil
}

// learnerDigest passes to add the options of the learner, on which all ranks must agree.
func (c *Config) learnerDigest(add func(name string, value any)) {
	for _, s := range c.Learner.learners() {
		for _, o := range s.Options {
			if v := c.Learner.Options[o.Name]; len(v) > 0 {
				add(o.Name, strings.Join(v, ","))
			}
		}
		if s.Labels == feature.CostLabels {
			add("indexing", fmt.Sprintf("%t:%d", c.OAA.Indexing.Set, c.OAA.Indexing.Value))
		}
	}
}

// rowBits returns log2 of the weights of a feature in a table that has a row for each feature, and
// 0 if the learner has no such table (Spec.Bottom).
func (c *LearnerConfig) rowBits() uint {
	if plan, ok := c.bottom(); ok {
		width, _ := plan.Widths()
		return uint(bits.Len(uint(width - 1)))
	}
	return 0
}

// kept returns the number of floats of a row that a model keeps (reduction.Plan), 0 if there is none.
func (c *LearnerConfig) kept() int {
	plan, _ := c.bottom()
	return plan.Kept
}

// bottom returns the plan of a learner with its own rule, and reports whether there is one.
func (c *LearnerConfig) bottom() (plan reduction.Plan, ok bool) {
	for _, s := range c.learners() {
		if plan, err := s.New(c.Options); s.Bottom && err == nil {
			return plan, true
		}
	}
	return reduction.Plan{}, false
}

// startRows sets the initial weights of a learner with rows. If the learner draws them, vw first
// lets the generator of the options draw a number for each row.
func (c *Config) startRows(plan *reduction.Plan, s *sgd.Slots, loaded bool) {
	w, width := s.Whole.Weights(), s.Width()
	if plan.Start == nil {
		c.Model.Start.Seed = c.Model.Start.Fill(w, width, width)
		return
	}
	c.Model.Start.Random = true
	c.Model.Start.Seed = c.Model.Start.Fill(w, width, width)
	if loaded {
		return // the model has all rows
	}
	for i := 0; i < len(w); i += width {
		plan.Start(w[i:i+width], uint64(i))
	}
}

// reduced returns the stage of a composed learner, for training or testing.
func (r *runner) reduced() (*sgdstage.Reduced, error) {
	c, rule := &r.cfg, r.rule
	pitch := rule.Stride()
	if c.TestOnly {
		pitch = 1 // in a test vw's table has only weights
		if !c.keeps() {
			rule, c.Model.PredictOnly = forTesting(rule), true
		}
	}
	spec := c.Learner.learners()[0]
	plan, err := spec.New(c.Learner.Options)
	if err != nil {
		return nil, err
	}
	width, learners := plan.Widths()
	slots, err := sgd.NewSlots(rule, r.tally.Loss, width, learners, pitch)
	if err != nil {
		return nil, usage.New(c.Learner.name(), "%v: give a larger learn.Config.Features.Bits", err)
	}
	env := r.environment(slots)
	whole := slots.Whole
	if c.Model.Start.Positive = plan.Positive; plan.Positive {
		c.Model.Start.Random = false
	}
	var layout sgdstage.Layout
	if spec.Bottom {
		layout = sgdstage.Layout{Rows: width, Kept: plan.Kept}
		c.startRows(&plan, slots, r.initial != nil)
	} else {
		c.startWeights(whole.Weights(), whole.Stride(), rule)
		c.startConstant(whole.Weights(), whole.Stride())
	}
	if c.Cluster.Join != nil {
		// Ranks draw different numbers, and write models of the same bytes.
		own := c.Model.Start.Seed
		env.Random = &own
	}
	var learner reduction.Learner
	var classifier reduction.Classifier
	if spec.Labels == feature.SimpleLabels {
		learner, err = plan.Make(env)
	} else {
		classifier, err = plan.MakeClassifier(env)
	}
	if err != nil {
		return nil, fmt.Errorf("learner %s: %w", spec.Name, err)
	}
	sectioned, ok := learner.(reduction.Sectioned)
	if classifier != nil {
		sectioned, ok = classifier.(reduction.Sectioned)
	}
	if ok && r.initial != nil {
		if err := sectioned.SetSection(r.initial.dec.Section); err != nil {
			return nil, &DataError{Name: r.initial.name, Text: err.Error()}
		}
	}
	if err := r.loadSlots(slots, layout, rule); err != nil {
		return nil, err
	}
	if l, ok := learner.(reduction.Stages); ok && !c.TestOnly {
		l.Start()
	}
	c.startStates(whole)
	if err := r.console.OpenTable(); err != nil {
		return nil, err
	}
	o := r.onlineConfig(rule, c.Passes)
	if classifier == nil {
		return sgdstage.NewReduced(o, env, learner, &spec, layout), nil
	}
	labels := c.classLabels(spec.Labels, plan.Classes)
	labels.Any = plan.AnyLabel
	stage := sgdstage.NewClassified(o, slots, classifier, spec.Labels, labels)
	if spec.Labels == feature.CostLabels {
		r.fromZero = stage.FromZero
	}
	return stage, nil
}

// environment returns the surroundings of a composed learner.
func (r *runner) environment(slots *sgd.Slots) *reduction.Env {
	c := &r.cfg
	env := &reduction.Env{
		Base: slots, Loss: r.tally.Loss, Seed: uint64(c.Model.Start.Seed), Random: &c.Model.Start.Seed,
		L2: float32(c.Reg.L2), Fixed: r.tally.Fixed,
		NoConstant: c.Features.NoConstant, Testing: c.TestOnly, Saves: c.keeps(), Endless: r.serves,
	}
	f := c.features()
	for _, set := range f.Terms() {
		if len(set) == 2 {
			env.Cross = append(env.Cross, [2]byte{set[0], set[1]})
		}
	}
	return env
}

// loadSlots reads the loaded model, if any, into the table of a composed learner and the sums of its linear learners.
func (r *runner) loadSlots(slots *sgd.Slots, layout sgdstage.Layout, rule sgd.Config) (err error) {
	switch {
	case layout.Rows > 0 && r.initial != nil:
		if err = r.initial.weights(layout.View(slots)); err == nil {
			r.goOn()
		}
	case layout.Rows == 0:
		err = r.load(slots.Whole, rule)
	}
	if err != nil || r.initial == nil {
		return err
	}
	sums := slots.Sums()
	if s := r.initial.dec.Resume; s == nil || s.Models == nil {
		sums = sums[:1] // vw's models have no others without --per_model_save_load
	}
	r.initial.intoSums(sums)
	return nil
}
