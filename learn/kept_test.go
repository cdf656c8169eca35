// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/model"
)

// What a model keeps comes back when it is loaded.
func TestKeptOptionsRoundTrip(t *testing.T) {
	want := Config{
		Namespaces: Namespaces{Quadratic: []string{"ab", "::"}}, HashAll: true, HashSet: true, HashSeed: 7, SeedSet: true, Link: "glf1", LinkSet: true, NoConstant: true, Binary: true,
		SGD: true, LearningRate: 0.25, LearningRateSet: true, PowerT: 0.4, PowerTSet: true,
	}
	h := model.Header{Options: want.keptOptions(true)}
	text := string(model.AppendOptions(nil, h.Options))
	// As vw 9.11.9 writes it.
	const vw = " --binary --hash all --hash_seed 7 --learning_rate 0.25 --link glf1 --noconstant --power_t 0.400000005960464 --quadratic ab --quadratic :: --sgd"
	if diff := cmp.Diff(vw, text); diff != "" {
		t.Errorf("kept options (-want +got):\n%s", diff)
	}
	got := Config{Link: "identity"}
	if err := got.takeOptions("m", &h); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

// The rule of the update is of no use to somebody who only predicts.
func TestPredictOnlyKeepsNoRule(t *testing.T) {
	c := Config{Link: "identity", SGD: true, LearningRate: 1, LearningRateSet: true, BFGS: true}
	if diff := cmp.Diff([]model.Option(nil), c.keptOptions(false)); diff != "" {
		t.Errorf("kept options (-want +got):\n%s", diff)
	}
}

func TestCommandLineAndModelMeet(t *testing.T) {
	kept := model.Header{Options: []model.Option{
		{Name: "learning_rate", Value: "0.3"}, {Name: "quadratic", Value: "ab"}, {Name: "link", Value: "logistic"}, {Name: "hash_seed", Value: "7"},
	}}
	given := Config{Link: "identity", LearningRate: 2, LearningRateSet: true, Namespaces: Namespaces{Quadratic: []string{"aa"}}}
	if err := given.takeOptions("m", &kept); err != nil {
		t.Fatal(err)
	}
	want := Config{Link: "logistic", LinkSet: true, HashSeed: 7, SeedSet: true, LearningRate: 2, LearningRateSet: true, Namespaces: Namespaces{Quadratic: []string{"aa"}}}
	if diff := cmp.Diff(want, given); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}

	var fault *UsageError
	other := Config{Link: "glf1"}
	if err := other.takeOptions("m", &kept); !errors.As(err, &fault) {
		t.Errorf("two links: got %v, want a usage error", err)
	}
	var data *DataError
	costs := model.Header{Options: []model.Option{{Name: "csoaa", Value: "3"}}}
	if err := other.takeOptions("m", &costs); !errors.As(err, &data) {
		t.Errorf("--csoaa: got %v, want a data error", err)
	}
}

// A model may keep parameters of learners that were not enabled when it was trained. A
// learner that gvw lacks changes predictions.
func TestModelsKeepOptionsOfOtherLearners(t *testing.T) {
	c := Config{Link: "identity"}
	want := c
	harmless := model.Header{Options: []model.Option{{Name: "epsilon", Value: "0.1"}, {Name: "lambda", Value: "2"}, {Name: "dropout"}, {Name: "search", Value: "2"}}}
	if err := c.takeOptions("m", &harmless); err != nil {
		t.Errorf("parameters: %v", err)
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	for _, name := range []string{"nn", "lrq", "search_task"} {
		if err := c.takeOptions("m", &model.Header{Options: []model.Option{{Name: name, Value: "2"}}}); err == nil {
			t.Errorf("a model of --%s was loaded", name)
		}
	}
}
