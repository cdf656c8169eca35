// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/gvw-project/gvw/learn/internal/ldastage"
	"github.com/gvw-project/gvw/learn/internal/usage"
	"github.com/gvw-project/gvw/learn/lda"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/option"
)

// LDAConfig configures the learning of topics (package learn/lda). The values of features are counts
// of words, and labels have no effect. The learning rate, its exponent and the batches before the
// first one are those of SGDConfig: 0.5, 0.5 and 0 if they are not set, and a rate above 1 is 1.
type LDAConfig struct {
	Topics     int                    // number of topics, equal to that of the loaded model; 0: no topics are learned
	Alpha      option.Option[float32] // prior of a document's share of each topic, above 0; not set: that of the loaded model, or 0.1
	LearnAlpha bool                   // learn a prior for each topic, beginning with Alpha or with those of the loaded model
	Rho        option.Option[float32] // prior of a topic's share of each word, above 0; not set: that of the loaded model, or 0.1
	Documents  float32                // documents of the whole collection; 0: 10000
	Epsilon    float32                // relative change at which the topics of a document are found; 0: 0.001
	Batch      int                    // documents that are learned from together; 0: 1
	Arithmetic int                    // 1: float64, with an accurate digamma; 0 and 2: float32, several times as fast

	alphas []float64 // learned priors of the loaded model, by topic; nil: none
}

// maxLearned is the largest number of topics whose learned priors fit into the options of a model.
const maxLearned = 4096

// Validate reports every fault of the group at once. Without Topics the other fields have no
// effect and no faults.
func (c *LDAConfig) Validate() error {
	if c.Topics == 0 {
		return nil
	}
	var f usage.Faults
	if c.Topics < 0 || c.Topics > lda.MaxTopics {
		f.Add("LDA.Topics", "%d topics: want 1 to %d", c.Topics, lda.MaxTopics)
	}
	if c.LearnAlpha && c.Topics > maxLearned {
		f.Add("LDA.LearnAlpha", "%d topics: a model has room for the priors of %d", c.Topics, maxLearned)
	}
	for _, p := range []struct {
		field string
		prior option.Option[float32]
	}{{"LDA.Alpha", c.Alpha}, {"LDA.Rho", c.Rho}} {
		if v := p.prior.Value; p.prior.Set && !(v > 0 && v <= math.MaxFloat32) {
			f.Add(p.field, "%g is no prior: a number above 0 is needed", v)
		}
	}
	f.Negative("LDA.Documents", float64(c.Documents))
	f.Negative("LDA.Epsilon", float64(c.Epsilon))
	if c.Batch < 0 {
		f.Add("LDA.Batch", "%d is no number of documents", c.Batch)
	}
	if c.Arithmetic < 0 || c.Arithmetic > 2 {
		f.Add("LDA.Arithmetic", "%d: want 0, 1 or 2", c.Arithmetic)
	}
	return f.Err()
}

// validateLDA reports options that contradict the learning of topics.
func (c *Config) validateLDA(f *usage.Faults) {
	if c.LDA.Topics <= 0 {
		return
	}
	for _, other := range []struct {
		given bool
		field string
		text  string
	}{
		{c.batches(), "Batch.BFGS", "it is another learner"},
		{c.OAA.Classes > 0, "OAA.Classes", "topics have no classes"},
		{c.follows(), "FTRL.Rule", "it is another learner"},
		{c.Malt.on(), "Malt.Graph", "topics are averaged by all ranks (learn.Config.Average.Every)"},
		{c.Loss.Binary, "Loss.Binary", "a document's topics have no sign"},
		{c.Model.InvertHash != "", "Model.InvertHash", "words are known by their numbers only"},
		{c.Model.HexWeights, "Model.HexWeights", "topics are written in decimal"},
		{c.Model.FeatureMask != "", "Model.FeatureMask", "it is for models of weights"},
		{c.Output.Audit != nil, "Output.Audit", "words have no weights"},
		{c.Output.RawPredictions != "", "Output.RawPredictions", "the predictions have all topics"},
		{len(c.Metrics.Measures) > 0, "Metrics.Measures", "topics have no labels to measure by"},
		{c.Metrics.Extra != "", "Metrics.Extra", "it counts the calls of other learners"},
		{len(c.Data.ClassWeights) > 0, "Data.ClassWeights", "documents have no labels"},
		{c.Data.PassLength > 0, "Data.PassLength", "it is for SGD"},
		{c.regularizes() || c.Reg.Input != "", "Reg.Output", "topics have priors instead: learn.Config.LDA.Rho"},
		{c.Model.PreserveCounters, "Model.PreserveCounters", "models of topics have no counters"},
	} {
		if other.given {
			f.Add(other.field, "%s: leave it or learn.Config.LDA.Topics out", other.text)
		}
	}
	if c.SGD.PowerT.Value < 0 {
		f.Add("SGD.PowerT", "%g is negative: with learn.Config.LDA.Topics it is 0 or more", c.SGD.PowerT.Value)
	}
}

// validateTopicRounds reports settings of averaging that topics do not have. They have the moments.
func (c *Config) validateTopicRounds(f *usage.Faults) {
	switch {
	case c.TestOnly:
		f.Add("Average.Aggregate", "nothing is learned: leave it out with learn.Config.TestOnly")
	case c.Average.Aggregate == aggregateGradient:
		f.Add("Average.Aggregate", "%s: ranks average topics, which is %s", aggregateGradient, aggregateModel)
	case c.Average.Batch != "":
		f.Add("Average.Batch", "documents are learned from together by learn.Config.LDA.Batch: leave it out")
	case c.Average.random():
		f.Add("Average.Every", "%s: topics are averaged at even moments", c.Average.Every)
	}
	if c.Outer != (OuterConfig{}) {
		f.Add("Outer.Rate", "it is for weights: leave it out")
	}
}

// ldaLearner returns the configuration of the learner of topics.
func (c *Config) ldaLearner() lda.Config {
	l := &c.LDA
	return lda.Config{
		Topics: l.Topics, Words: 1 << c.Features.Bits, Alpha: float64(l.Alpha.Value), Alphas: l.alphas, LearnAlpha: l.LearnAlpha, Eta: float64(l.Rho.Value), Documents: float64(l.Documents),
		Epsilon: float64(l.Epsilon), Precise: l.Arithmetic == 1,
		LearningRate: float64(c.ldaRate()), PowerT: float64(c.SGD.PowerT.Or(0.5)), InitialT: float64(c.SGD.InitialT.Or(0)),
	}
}

// ldaRate returns the learning rate of topics.
func (c *Config) ldaRate() float32 { return min(1, c.SGD.LearningRate.Or(0.5)) }

// topics returns the stage that learns topics, or infers those of documents.
func (r *runner) topics() (*ldastage.Stage, error) {
	c := &r.cfg
	learner, err := lda.New(c.ldaLearner())
	if err != nil {
		return nil, err
	}
	// vw draws a weight for every word before it draws those of the topics, which do not depend
	// on the seed, and keeps the state of the generator in the model.
	for range 1 << c.Features.Bits {
		c.Model.Start.Seed.Float()
	}
	learner.Draw()
	if r.initial != nil {
		if err := r.initial.topics(learner.Weights(), c.LDA.Rho.Or(0.1)); err != nil {
			return nil, err
		}
		learner.Use(learner.Weights())
	}
	_, every := c.Average.amounts(new(usage.Faults))
	stage := ldastage.New(ldastage.Config{
		Read: r.read, Tally: r.tally, Job: r.job, Models: r.models, Passes: c.Passes, Batch: cmp.Or(c.LDA.Batch, 1), Every: every,
	}, learner)
	return stage, r.console.OpenTable()
}

// topics reads the weights of a model of topics into dst and closes the file.
func (in *initial) topics(dst []float32, rho float32) error {
	_, err := in.dec.Topics(dst)
	if err != nil {
		err = fmt.Errorf("initial model %s: %w", in.name, err)
	}
	if err := errors.Join(err, in.file.Close()); err != nil {
		return err
	}
	for i, x := range dst {
		if v := x + rho; !(v >= 0 && v <= math.MaxFloat32) {
			return &DataError{Name: in.name, Text: fmt.Sprintf("number %d of the topics is %v: it cannot be below 0", i, v)}
		}
	}
	return nil
}

// ldaOptions returns the options that a model of topics keeps, as in vw, except those on
// namespaces.
func (c *Config) ldaOptions() []model.Option {
	kept := []model.Option{{Name: "lda", Value: strconv.Itoa(c.LDA.Topics)}}
	for _, o := range []struct {
		name string
		v    option.Option[float32]
	}{
		{"lda_alpha", c.LDA.Alpha}, {"lda_rho", c.LDA.Rho}, {"learning_rate", c.SGD.LearningRate}, {"power_t", c.SGD.PowerT},
	} {
		if o.v.Set {
			kept = append(kept, model.FloatOption(o.name, o.v.Value))
		}
	}
	return kept
}

// takeTopics merges the number of topics of a model into c.
func (c *Config) takeTopics(name string, h *model.Header) error {
	if h.LearnsAlpha() {
		var err error
		if c.LDA.alphas, err = h.Alphas(); err != nil {
			return &DataError{Name: name, Text: err.Error()}
		}
	}
	switch k := int(h.LDA); {
	case k == 0 && c.LDA.Topics > 0:
		return usage.New("LDA.Topics", "%s has no topics: give a model that was trained with learn.Config.LDA.Topics", name)
	case k != 0 && c.LDA.Topics != 0 && c.LDA.Topics != k:
		return usage.New("LDA.Topics", "Disagreeing option values for 'lda': '%d' vs '%d' (of %s)", c.LDA.Topics, k, name)
	default:
		c.LDA.Topics = k
	}
	return nil
}

// takePrior merges a prior of the topics that a model keeps into c.
func (c *Config) takePrior(name string, o model.Option) error {
	field, v := "LDA.Alpha", &c.LDA.Alpha
	if o.Name == "lda_rho" {
		field, v = "LDA.Rho", &c.LDA.Rho
	}
	kept, err := strconv.ParseFloat(o.Value, 32)
	if err != nil || !(kept > 0) {
		return &DataError{Name: name, Text: fmt.Sprintf("kept option --%s %q is no number above 0", o.Name, o.Value)}
	}
	if v.Set && v.Value != float32(kept) {
		return usage.New(field, "Disagreeing option values for '%s': '%g' vs '%s' (of %s)", o.Name, v.Value, o.Value, name)
	}
	*v = option.Some(float32(kept))
	return nil
}

// ldaDigest passes to add the settings of topics on which all ranks must agree.
func (c *Config) ldaDigest(add func(name string, value any)) {
	l := c.ldaLearner()
	add("lda", fmt.Sprintf("%d:%g:%g:%g:%g:%t:%d:%t", l.Topics, l.Alpha, l.Eta, l.Documents, l.Epsilon, l.Precise, c.LDA.Batch, l.LearnAlpha))
	add("rate", fmt.Sprintf("%g:%g:%g", l.LearningRate, l.PowerT, l.InitialT))
}

// ldaTables returns the tables that the learning of topics allocates in any case.
func (c *Config) ldaTables() []Amount {
	words := uint64(1) << c.Features.Bits
	return []Amount{
		{fmt.Sprintf("topics: 2^%d words of %d floats", c.Features.Bits, c.LDA.Topics), 4 * uint64(c.LDA.Topics) * words},
		{"times of the words, and their places in a batch", 12 * words},
	}
}
