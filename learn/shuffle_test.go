// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"testing"
)

// A shuffled run over several batches has the same result each time. The result differs from
// that of a run in order, and between one window and several.
func TestShuffledRuns(t *testing.T) {
	text := randomText(4200) // a large batch and a small one
	model := func(change func(*Config)) string {
		var out files
		c := Config{
			Data:     DataConfig{Inputs: []Input{textInput("all", text)}},
			Features: FeatureConfig{Bits: 10},
			Loss:     LossConfig{Function: "logistic"},
			Passes:   3,
			Holdout:  HoldoutConfig{Off: true},
			Model:    ModelConfig{PredictOnly: true, Final: "m"},
			Output:   OutputConfig{Create: out.create},
		}
		change(&c)
		if _, err := Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		return string(out.m["m"])
	}
	plain := model(func(*Config) {})
	whole := model(func(c *Config) { c.Data.Shuffle = true })
	pieces := model(func(c *Config) { c.Data.Shuffle, c.Data.ShuffleMemory = true, 100_000 })
	if len(plain) < 200 || whole == plain || pieces == plain || whole == pieces {
		t.Error("the orders do not differ")
	}
	if again := model(func(c *Config) { c.Data.Shuffle = true }); again != whole {
		t.Error("the same run gives another model")
	}
}
