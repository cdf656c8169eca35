// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"testing"

	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/option"
)

// A run allocates for batches, tables and files, never for an example: twenty
// times the examples cost a few allocations more, for batches in flight.
func TestNoAllocationPerExample(t *testing.T) {
	if sampled.UnderRace {
		t.Skip("the race detector allocates")
	}
	run := func(text string, change func(*Config)) float64 {
		c := Config{
			Data:     DataConfig{Inputs: []Input{textInput("text", text)}},
			Features: FeatureConfig{Bits: 10, Namespaces: Namespaces{Quadratic: []string{"ff"}}},
			Loss:     LossConfig{Function: "logistic"},
			Holdout:  HoldoutConfig{Off: true},
		}
		change(&c)
		return testing.AllocsPerRun(3, func() {
			if _, err := Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		})
	}
	small, large := randomText(500), randomText(10_000)
	for _, c := range []struct {
		name   string
		change func(*Config)
	}{
		{"sgd", func(c *Config) { c.Passes = 2 }},
		{"l-bfgs", func(c *Config) {
			c.Passes, c.Batch.BFGS, c.Reg.L2, c.Batch.Termination = 4, true, 1, option.Some[float64](0)
		}},
		{"test", func(c *Config) { c.TestOnly = true }},
	} {
		few, many := run(small, c.change), run(large, c.change)
		if grown := many - few; grown > 2000 {
			t.Errorf("%s: 9,500 examples more cost %v allocations more, want at most 2000", c.name, grown)
		}
	}
}
