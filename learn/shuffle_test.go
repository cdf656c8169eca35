// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gvw-project/gvw/learn/internal/tally"
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

// A run that preserves the counters of its model has the same passes as one that does not: the log has the sums of this run
// only, and the first pass is not shuffled.
func TestPassesWithPreservedCounters(t *testing.T) {
	text := randomText(300)
	var out files
	train := func(change func(*Config)) []tally.PassLine {
		var log bytes.Buffer
		c := Config{
			Data:     DataConfig{Inputs: []Input{textInput("all", text)}, Cache: t.TempDir() + "/c"},
			Features: FeatureConfig{Bits: 10},
			Loss:     LossConfig{Function: "logistic"},
			Passes:   2,
			Holdout:  HoldoutConfig{Off: true},
			Model:    ModelConfig{Final: "m"},
			Metrics:  MetricsConfig{PassLog: &log},
			Output:   OutputConfig{Create: out.create},
		}
		c.Model.Open = func(name string) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(out.m[name])), nil
		}
		change(&c)
		if _, err := Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		var lines []tally.PassLine
		for line := range bytes.Lines(log.Bytes()) {
			var p tally.PassLine
			if err := json.Unmarshal(line, &p); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, p)
		}
		return lines
	}
	train(func(*Config) {})
	again := func(preserve bool, final string) []tally.PassLine {
		return train(func(c *Config) {
			c.Model.Initial, c.Model.PreserveCounters, c.Model.Final = "m", preserve, final
			c.Model.PredictOnly, c.Data.Shuffle = true, true
		})
	}
	want, got := again(false, "plain"), again(true, "preserved")
	for i := range want {
		want[i].Pass += 2
	}
	near := cmp.Options{cmpopts.EquateApprox(1e-12, 0), cmpopts.IgnoreFields(tally.PassLine{}, "Seconds")}
	if diff := cmp.Diff(want, got, near); diff != "" || len(want) != 2 {
		t.Errorf("lines of the log (-without +with the counters):\n%s", diff)
	}
	if diff := diffFiles(map[string][]byte{"m": out.m["plain"]}, map[string][]byte{"m": out.m["preserved"]}); diff != "" {
		t.Errorf("the models differ: %.300s", diff)
	}
}
