// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/learn/internal/reduction"
	"github.com/gvw-project/gvw/learn/internal/reductions"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/option"
)

// learnerCases are options of each composed learner, for texts of one namespace, f. The examples of lrq and lrqfa also have its
// features in g.
var learnerCases = map[string][]string{
	"lrq":        {"lrq=fg3", "lrq=ff2 lrqdropout=true"},
	"lrqfa":      {"lrqfa=fg2"},
	"nn":         {"nn=3", "nn=2 dropout=true inpass=true"},
	"new_mf":     {"new_mf=2"},
	"rank":       {"rank=2"},
	"bootstrap":  {"bootstrap=3", "bootstrap=4 bs_type=vote"},
	"boosting":   {"boosting=3", "boosting=3 alg=logistic", "boosting=4 alg=adaptive"},
	"stage_poly": {"stage_poly=true batch_sz=50", "stage_poly=true batch_sz=0", "stage_poly=true batch_sz=7 batch_sz_no_doubling=true sched_exponent=0.5"},
	"marginal":   {"marginal=f", "marginal=f compete=true decay=0.01"},
	"quantiles":  {"quantiles=0.2,0.8"},
	"csoaa":      {"csoaa=3"},

	"multilabel_oaa": {"multilabel_oaa=3"},
	"ect":            {"ect=3 error=1", "ect=3"},
	"log_multi":      {"log_multi=3", "log_multi=2 swap_resistance=1"},
	"svrg":           {"svrg=true", "svrg=true stage_size=2"},
}

// learnerValues reads options as learnerCases has them.
func learnerValues(options string) map[string][]string {
	v := map[string][]string{}
	for o := range strings.FieldsSeq(options) {
		name, value, _ := strings.Cut(o, "=")
		v[name] = append(v[name], value)
	}
	return v
}

// vw's --ignore_linear changes more than the linear features of these learners, and has its plain meaning for others.
func TestLearnersWithoutIgnoreLinear(t *testing.T) {
	for options, refused := range map[string]bool{"lrq=fg3": true, "lrqfa=fg2": true, "rank=2": true, "marginal=f": true, "nn=3": false, "new_mf=2": false} {
		c := Config{Learner: LearnerConfig{Options: learnerValues(options)}}
		c.Features.Namespaces.IgnoreLinear = []string{"f"}
		if options == "new_mf=2" || options == "rank=2" {
			c.Features.Namespaces.Quadratic = []string{"fg"}
		}
		c = c.withDefaults()
		err := c.Validate()
		if got := err != nil && strings.Contains(err.Error(), "IgnoreLinear"); got != refused {
			t.Errorf("%s: got %v, want a refusal: %t", options, err, refused)
		}
	}
}

// init adds the composed learners to the methods that the tests of recovery train by.
func init() {
	for _, s := range reductions.All {
		for i, options := range learnerCases[s.Name] {
			if plan, _ := s.New(learnerValues(options)); plan.Alone != "" {
				continue // no other rank could replace it
			}
			set := func(c *Config) {
				c.Learner.Options = learnerValues(options)
				switch s.Name {
				case "new_mf", "rank":
					c.Features.Namespaces.Quadratic = []string{"ff"}
				case "quantiles":
					c.Loss.Function = "squared"
				}
				if s.Labels != feature.SimpleLabels {
					c.Loss.Function = "squared"
				}
				adapt(c, &s)
			}
			recovered = append(recovered, method{options, func(c *Config) {
				set(c)
				c.Passes, c.Model.PredictOnly = 3, false
			}})
			if i > 0 {
				continue
			}
			recovered = append(recovered, method{options + ", holdout, large table", func(c *Config) {
				set(c)
				c.Features.Bits, c.Passes, c.Holdout.Off = 15, 4, false
			}})
		}
	}
}

// adapt makes examples of a learner from those of the data: relabeled ones, or for --lrq and --lrqfa ones whose features are
// also in g.
func adapt(c *Config, s *reduction.Spec) {
	switch {
	case s.Labels != feature.SimpleLabels:
		relabel(c, s.Labels)
	case s.Name == "lrq" || s.Name == "lrqfa":
		rewrite(c, func(b *strings.Builder, line string) {
			_, features, _ := strings.Cut(line, "|f")
			b.WriteString(strings.TrimSuffix(line, "\n"))
			b.WriteString(" |g")
			b.WriteString(features)
		})
	}
}

// relabel gives the examples labels of another kind, which follow from the simple ones and from their features.
func relabel(c *Config, kind feature.LabelKind) {
	labels := map[feature.LabelKind][3]string{
		feature.ClassLabels: {"1", "2", "3"},
		feature.CostLabels:  {"1:0 2:1.5 3:2", "1:2 2:0", "2:0.5 3:0.25 1:1"},
		feature.MultiLabels: {"0", "1,2", "0,2"},
	}[kind]
	rewrite(c, func(b *strings.Builder, line string) {
		label, rest, _ := strings.Cut(line, " ")
		k := len(rest) % 2
		if label == "1" {
			k = 2
		}
		b.WriteString(labels[k])
		b.WriteByte(' ')
		b.WriteString(rest)
	})
}

// rewrite replaces the lines of the data by those that other writes.
func rewrite(c *Config, other func(b *strings.Builder, line string)) {
	for i := range c.Data.Inputs {
		open := c.Data.Inputs[i].Open
		c.Data.Inputs[i].Open = func(ctx context.Context) (io.ReadCloser, error) {
			in, err := open(ctx)
			if err != nil {
				return nil, err
			}
			text, err := io.ReadAll(in)
			if err != nil {
				return nil, err
			}
			var b strings.Builder
			for line := range strings.Lines(string(text)) {
				other(&b, line)
			}
			return io.NopCloser(strings.NewReader(b.String())), nil
		}
	}
}

// Every learner of the table has cases here, and its options are consistent.
func TestLearnersAreTested(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range reductions.All {
		if len(learnerCases[s.Name]) == 0 {
			t.Errorf("learner %s: no cases in learnerCases", s.Name)
		}
		if len(s.Options) == 0 || s.Options[0].Name != s.Name {
			t.Errorf("learner %s: its first option is another one", s.Name)
		}
		for _, o := range s.Options {
			if seen[o.Name] {
				t.Errorf("option %s: two learners have it", o.Name)
			}
			seen[o.Name] = true
		}
	}
}

// No learner allocates for an example.
func TestLearnersAllocateNothingPerExample(t *testing.T) {
	sampled.NotInCheck(t, os.Getenv)
	if sampled.UnderRace {
		t.Skip("the race detector allocates")
	}
	small, large := randomText(500), randomText(10_000)
	for _, s := range reductions.All {
		for _, options := range learnerCases[s.Name] {
			run := func(text string) float64 {
				c := Config{
					Data: DataConfig{Inputs: []Input{textInput("text", text)}}, Features: FeatureConfig{Bits: 12},
					Holdout: HoldoutConfig{Off: true}, Learner: LearnerConfig{Options: learnerValues(options)},
				}
				adapt(&c, &s)
				return testing.AllocsPerRun(3, func() {
					if _, err := Run(t.Context(), c); err != nil {
						t.Fatal(err)
					}
				})
			}
			if grown := run(large) - run(small); grown > 2000 {
				t.Errorf("%s: 9,500 examples more cost %v allocations more, want at most 2000", options, grown)
			}
		}
	}
}

// The options that a model keeps suffice for the number of weights of a feature.
func TestWeightsPerFeature(t *testing.T) {
	want := map[string]int{
		"lrq": 4, "lrqfa": 5, "nn": 4, "new_mf": 5, "bootstrap": 3, "boosting": 3, "quantiles": 2, "csoaa": 3,
		"multilabel_oaa": 3, "ect": 5, "log_multi": 2, "rank": 1, "svrg": 1, "marginal": 1, "stage_poly": 1,
	}
	for _, s := range reductions.All {
		c := Config{Learner: LearnerConfig{Options: learnerValues(learnerCases[s.Name][0])}}
		h := model.Header{Options: c.learnerOptions()}
		if got, err := WeightsPerFeature("m", &h); err != nil || got != want[s.Name] {
			t.Errorf("%s: got %d weights and error %v, want %d", s.Name, got, err, want[s.Name])
		}
	}
	if got, err := WeightsPerFeature("m", &model.Header{Options: []model.Option{{Name: "oaa", Value: "3"}}}); err != nil || got != 3 {
		t.Errorf("oaa: got %d weights and error %v, want 3", got, err)
	}
	var fault *DataError
	if _, err := WeightsPerFeature("m", &model.Header{Options: []model.Option{{Name: "csoaa", Value: "x"}}}); !errors.As(err, &fault) {
		t.Errorf("got error %v, want a DataError", err)
	}
}

// A model keeps the options of its learner, and other values are refused.
func TestLearnerOptionsOfModels(t *testing.T) {
	c := Config{Learner: LearnerConfig{Options: learnerValues("lrq=ab3")}}
	var h model.Header
	h.Options = c.learnerOptions()
	var other Config
	if err := other.takeLearner("m", &h); err != nil || other.Learner.Options["lrq"][0] != "ab3" {
		t.Errorf("got %v, error %v", other.Learner.Options, err)
	}
	other.Learner.Options = learnerValues("lrq=ab4")
	if err := other.takeLearner("m", &h); err == nil || !strings.Contains(err.Error(), "Disagreeing option values for 'lrq': 'ab4' vs 'ab3'") {
		t.Errorf("another value: got error %v", err)
	}
}

// An error names the weight of a composed learner that has diverged.
func TestDivergedLearnersNameTheirWeight(t *testing.T) {
	for _, options := range []string{"boosting=3", "quantiles=0.1,0.5", "lrq=ff2"} {
		c := Config{
			Data:     DataConfig{Inputs: []Input{textInput("text", "1 |f a:3e38 b:3e38\n1 |f c a:3e38 b:3e38\n1 |f a:3e38 b:3e38\n")}},
			Features: FeatureConfig{Bits: 10},
			SGD:      SGDConfig{Plain: true, LearningRate: option.Some[float32](1e30)},
			Learner:  LearnerConfig{Options: learnerValues(options)},
		}
		if options == "lrq=ff2" {
			c.Data.Inputs = []Input{textInput("text", "1 |f a:1e10 b\n-1 |f c a:1e10\n1 |f a:1e10 b\n")}
		}
		_, err := Run(t.Context(), c)
		if err == nil || !regexp.MustCompile(`its largest weight is number \d+, (NaN|[+-]Inf):`).MatchString(err.Error()) {
			t.Errorf("%s: got %v, want a weight that is not finite", options, err)
		}
	}
}
