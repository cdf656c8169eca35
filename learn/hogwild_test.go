// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/option"
)

// hogwild runs a training or a test of text with a number of threads, and returns its files and its report.
func hogwild(t *testing.T, text string, threads int, change func(*Config)) (map[string][]byte, *Report) {
	t.Helper()
	var out files
	c := Config{
		Data:        DataConfig{Inputs: []Input{textInput("text", text)}},
		Features:    FeatureConfig{Bits: 10},
		SGD:         SGDConfig{Hogwild: threads},
		Model:       ModelConfig{Final: "m"},
		Output:      OutputConfig{Create: out.create, Predictions: "p", RawPredictions: "r"},
		Diagnostics: DiagnosticsConfig{Writer: io.Discard},
	}
	change(&c)
	report, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return out.m, report
}

// Little data is one batch, which one thread learns: its order is fixed, so all bytes are those of a run with one thread.
func TestHogwildOfOneBatch(t *testing.T) {
	text := strings.ReplaceAll(randomText(200), "\n1 |f w1", "\n\n1 2 tag|f w1") + "|f w3 w4\n"
	for name, change := range map[string]func(*Config){
		"holdout": func(c *Config) {},
		"holdout after": func(c *Config) {
			c.Holdout.After = 150
		},
		"logistic":       func(c *Config) { c.Loss.Function, c.Holdout.Off = "logistic", true },
		"first examples": func(c *Config) { c.Data.Examples = 90 },
		"binary":         func(c *Config) { c.Loss.Binary, c.Loss.Function = true, "logistic" },
		"plain":          func(c *Config) { c.SGD.Plain = true },
		"normalized":     func(c *Config) { c.SGD.Normalized = true },
		"power":          func(c *Config) { c.SGD.PowerT = option.Some[float32](0.3) },
		"resume state":   func(c *Config) { c.Model.PredictOnly = false },
		"weights only":   func(c *Config) { c.Model.PredictOnly = true },
		"sparse l2":      func(c *Config) { c.Reg.SparseL2 = 0.01 },
		"test":           func(c *Config) { c.TestOnly = true },
		"range": func(c *Config) {
			c.Loss.MinPrediction, c.Loss.MaxPrediction = option.Some[float32](-0.5), option.Some[float32](0.5)
		},
		"link and quantile": func(c *Config) { c.Loss.Function, c.Loss.Link = "quantile", "glf1" },
	} {
		t.Run(name, func(t *testing.T) {
			want, report := hogwild(t, text, 1, change)
			got, again := hogwild(t, text, 3, change)
			if diff := diffFiles(want, got); diff != "" {
				t.Errorf("the files differ: %s", diff)
			}
			if diff := cmp.Diff(report, again, cmpopts.EquateNaNs(), cmpopts.IgnoreFields(Report{}, "Loss")); diff != "" {
				t.Errorf("the reports differ: %s", diff)
			}
		})
	}
}

// A test changes no weight, so threads predict what one predicts, in the order of the data.
func TestHogwildPredictsAsOneThread(t *testing.T) {
	var text strings.Builder
	for i, line := range strings.SplitAfter(randomText(30_000), "\n") {
		if line != "" {
			text.WriteString(strings.Replace(line, "|f", fmt.Sprintf("t%d|f", i), 1))
		}
	}
	test := func(c *Config) { c.TestOnly, c.Model.Final, c.Model.Start.Random = true, "", true }
	want, report := hogwild(t, text.String(), 1, test)
	got, again := hogwild(t, text.String(), 3, test)
	if diff := diffFiles(want, got); diff != "" {
		t.Errorf("the files differ: %.300s", diff)
	}
	if diff := cmp.Diff(report, again, cmpopts.EquateNaNs(), cmpopts.IgnoreFields(Report{}, "Loss")); diff != "" {
		t.Errorf("the reports differ: %s", diff)
	}
}

// Threads lose few updates: their loss is that of one thread, all examples are counted, and the passes end as before.
func TestHogwildReachesTheLossOfOneThread(t *testing.T) {
	if sampled.UnderRace {
		t.Skip("threads that share weights without locks are races by design")
	}
	text := randomText(40_000)
	train := func(c *Config) {
		c.Loss.Function, c.Passes, c.Data.Cache = "logistic", 3, t.TempDir()+"/c"
	}
	alone, one := hogwild(t, text, 1, train)
	out, four := hogwild(t, text, 4, train)
	want, got := bytes.Count(alone["p"], []byte("\n")), bytes.Count(out["p"], []byte("\n"))
	if got != want || four.Stats.Examples != one.Stats.Examples {
		t.Errorf("got %d examples and %d predictions, want %d and %d", four.Stats.Examples, got, one.Stats.Examples, want)
	}
	if want, got := one.Stats.AverageLoss(), four.Stats.AverageLoss(); math.Abs(got-want) > 0.02*want {
		t.Errorf("got a loss of %v, and %v with one thread", got, want)
	}
}

func TestHogwildDiverges(t *testing.T) {
	c := Config{
		Data:        DataConfig{Inputs: []Input{textInput("text", randomText(20)+"1 |f w1:1e30\n1e30 |f w1:1e30\n")}},
		SGD:         SGDConfig{Hogwild: 2, Plain: true, LearningRate: option.Some[float32](1e30)},
		Diagnostics: DiagnosticsConfig{Writer: io.Discard},
	}
	if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "the training diverged") {
		t.Errorf("got %v, want the example at which training has diverged", err)
	}
}
