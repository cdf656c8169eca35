// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/option"
)

// withGiven compares configurations with what was given.
var withGiven = cmp.AllowUnexported(Config{}, given{}, LDAConfig{})

// The options that a model keeps are set again when it is loaded.
func TestKeptOptionsRoundTrip(t *testing.T) {
	want := Config{
		Features: FeatureConfig{
			Namespaces: Namespaces{Quadratic: []string{"ab", "::"}},
			Hash:       "all",
			HashSeed:   option.Some[uint32](7),
			NoConstant: true,
		},
		Loss: LossConfig{Link: "glf1", Binary: true},
		SGD:  SGDConfig{Plain: true, LearningRate: option.Some[float32](0.25), PowerT: option.Some[float32](0.4)},
	}
	h := model.Header{Options: want.modelOptions(true)}
	text := string(model.AppendOptions(nil, h.Options))
	// As vw 9.11.9 writes it.
	const vw = " --binary --hash all --hash_seed 7 --learning_rate 0.25 --link glf1 --noconstant --power_t 0.400000005960464 --quadratic ab --quadratic :: --sgd"
	if diff := cmp.Diff(vw, text); diff != "" {
		t.Errorf("kept options (-want +got):\n%s", diff)
	}
	got := Config{Loss: LossConfig{Link: "identity"}}
	if err := got.takeOptions("m", &h); err != nil {
		t.Fatal(err)
	}
	want.given.link = true
	if diff := cmp.Diff(want, got, withGiven); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

// A model for prediction only keeps no update rule.
func TestPredictOnlyKeepsNoRule(t *testing.T) {
	c := Config{Loss: LossConfig{Link: "identity"}, SGD: SGDConfig{Plain: true, LearningRate: option.Some[float32](1)}, Batch: BatchConfig{BFGS: true}}
	if diff := cmp.Diff([]model.Option(nil), c.modelOptions(false)); diff != "" {
		t.Errorf("kept options (-want +got):\n%s", diff)
	}
}

func TestCommandLineAndModelAreCombined(t *testing.T) {
	kept := model.Header{Options: []model.Option{
		{Name: "learning_rate", Value: "0.3"}, {Name: "quadratic", Value: "ab"}, {Name: "link", Value: "logistic"}, {Name: "hash_seed", Value: "7"},
	}}
	given := Config{
		Loss:     LossConfig{Link: "identity"},
		SGD:      SGDConfig{LearningRate: option.Some[float32](2)},
		Features: FeatureConfig{Namespaces: Namespaces{Quadratic: []string{"aa"}}},
	}
	if err := given.takeOptions("m", &kept); err != nil {
		t.Fatal(err)
	}
	want := Config{
		Loss:     LossConfig{Link: "logistic"},
		Features: FeatureConfig{HashSeed: option.Some[uint32](7), Namespaces: Namespaces{Quadratic: []string{"aa"}}},
		SGD:      SGDConfig{LearningRate: option.Some[float32](2)},
	}
	want.given.link = true
	if diff := cmp.Diff(want, given, withGiven); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}

	var fault *UsageError
	other := Config{Loss: LossConfig{Link: "glf1"}}
	if err := other.takeOptions("m", &kept); !errors.As(err, &fault) {
		t.Errorf("two links: got %v, want a usage error", err)
	}
	other = Config{Loss: LossConfig{Link: "identity"}}.withDefaults() // as vw refuses it
	if err := other.takeOptions("m", &kept); !errors.As(err, &fault) {
		t.Errorf("identity and another link: got %v, want a usage error", err)
	}
	var data *DataError
	bandit := model.Header{Options: []model.Option{{Name: "cb", Value: "3"}}}
	if err := other.takeOptions("m", &bandit); !errors.As(err, &data) {
		t.Errorf("--cb: got %v, want a data error", err)
	}
}

// A model may keep parameters of learners that were not enabled when it was trained. These are
// ignored. A learner that gvw lacks changes predictions and is refused.
func TestModelsKeepOptionsOfOtherLearners(t *testing.T) {
	c := Config{Loss: LossConfig{Link: "identity"}}
	want := c
	harmless := model.Header{Options: []model.Option{{Name: "epsilon", Value: "0.1"}, {Name: "lambda", Value: "2"}, {Name: "search", Value: "2"}}}
	if err := c.takeOptions("m", &harmless); err != nil {
		t.Errorf("parameters: %v", err)
	}
	if diff := cmp.Diff(want, c, withGiven); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	for _, name := range []string{"cb", "search_task"} {
		if err := c.takeOptions("m", &model.Header{Options: []model.Option{{Name: name, Value: "2"}}}); err == nil {
			t.Errorf("a model of --%s was loaded", name)
		}
	}
}
