// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/metric"
)

// lines decodes a log of passes.
func lines(t *testing.T, log string) []tally.PassLine {
	t.Helper()
	var all []tally.PassLine
	for text := range strings.Lines(log) {
		var l tally.PassLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		all = append(all, l)
	}
	return all
}

// L-BFGS takes the same path on three ranks as in one process. Every rank reports the same
// measures of the training set and of the validation set.
func TestMeasuresOfRanksAreThoseOfOne(t *testing.T) {
	text, held := randomText(400), randomText(700)[20000:]
	held = held[strings.IndexByte(held, '\n')+1:]
	setup := func(c *Config, log *bytes.Buffer) {
		c.Passes, c.Batch.BFGS, c.Reg.L2, c.Metrics.Measures, c.Metrics.PassLog = 8, true, 1, metric.Names, log
	}
	var log1 bytes.Buffer
	single := Config{
		Data:     DataConfig{Inputs: []Input{textInput("all", text)}},
		Holdout:  HoldoutConfig{Valid: []Input{textInput("valid", held)}},
		Features: FeatureConfig{Bits: 10},
		Loss:     LossConfig{Function: "logistic"},
	}
	setup(&single, &log1)
	want, err := Run(t.Context(), single)
	if err != nil {
		t.Fatal(err)
	}
	parts, validParts := deal(text, 3), deal(held, 3)
	logs := make([]bytes.Buffer, 3)
	reports, errs := runRanks(t, parts, func(rank int, c *Config) {
		setup(c, &logs[rank])
		c.Holdout.Valid = []Input{textInput("valid", validParts[rank])}
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for rank, r := range reports {
		if fmt.Sprint(r.Measures) != fmt.Sprint(reports[0].Measures) {
			t.Errorf("rank %d measures %v, rank 0 %v", rank, r.Measures, reports[0].Measures)
		}
	}
	for i, v := range want.Measures {
		if got := reports[0].Measures[i]; got.Name != v.Name || !(math.Abs(got.Value-v.Value) < 1e-4) {
			t.Errorf("three ranks: %v, one process %v", got, v)
		}
	}
	one, three := lines(t, log1.String()), lines(t, logs[0].String())
	if len(one) != want.Passes || len(three) != len(one) {
		t.Fatalf("%d and %d lines of %d passes", len(one), len(three), want.Passes)
	}
	for i := range one {
		if one[i].Examples != 400 || three[i].Examples != 400 {
			t.Errorf("pass %d has %d and %d examples, want 400", i+1, one[i].Examples, three[i].Examples)
		}
		for name, v := range one[i].Valid {
			if got := three[i].Valid[name]; got == nil || !(math.Abs(*got-*v) < 1e-4) {
				t.Errorf("pass %d, %s of the validation: %v, one process %v", i+1, name, got, *v)
			}
		}
	}
}

// Training stops when the loss on the validation set rises, and the best weights are kept.
func TestValidationStopsTraining(t *testing.T) {
	text := randomText(300)
	opposite := strings.ReplaceAll(strings.ReplaceAll("\n"+text, "\n1 ", "\n+ "), "\n-1 ", "\n1 ")
	opposite = strings.ReplaceAll(opposite, "\n+ ", "\n-1 ")[1:]
	var talk, log bytes.Buffer
	var best, first files
	c := Config{
		Data:        DataConfig{Inputs: []Input{textInput("all", text)}},
		Holdout:     HoldoutConfig{Valid: []Input{textInput("valid", opposite)}, EarlyTerminate: 2},
		Features:    FeatureConfig{Bits: 10},
		Loss:        LossConfig{Function: "logistic"},
		Passes:      9,
		Model:       ModelConfig{PredictOnly: true, Final: "m"},
		Output:      OutputConfig{Create: best.create},
		Diagnostics: DiagnosticsConfig{Writer: &talk},
		Metrics:     MetricsConfig{PassLog: &log},
	}
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	all := lines(t, log.String())
	if r.Passes != 3 || len(all) != 3 || !all[0].Best || !all[2].Stop || all[1].Best || all[1].Stop {
		t.Errorf("%d passes, log:\n%s", r.Passes, log.String())
	}
	if !strings.Contains(talk.String(), "pass 1: validation loss = ") {
		t.Errorf("no message for the user:\n%s", talk.String())
	}
	c.Holdout.Valid, c.Passes = nil, 1
	c.Output.Create = first.create
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if len(best.m["m"]) < 200 || !bytes.Equal(best.m["m"], first.m["m"]) {
		t.Error("the model is not that of the first pass")
	}
}

func TestMetricsFile(t *testing.T) {
	var out files
	c := Config{
		Data:     DataConfig{Inputs: []Input{textInput("all", randomText(200))}},
		Features: FeatureConfig{Bits: 10},
		Loss:     LossConfig{Function: "logistic"},
		Metrics:  MetricsConfig{Measures: metric.Set{metric.AUC, metric.Calibration}, File: "m.json"},
		Output:   OutputConfig{Create: out.create},
	}
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Pass    int
		Metrics map[string]float64
		Curve   []any `json:"calibration_curve"`
	}
	if err := json.Unmarshal(out.m["m.json"], &got); err != nil {
		t.Fatal(err)
	}
	if got.Pass != 1 || len(got.Curve) != 10 || len(got.Metrics) != 2 || got.Metrics["auc"] < 0.6 {
		t.Errorf("%+v", got)
	}
}

func TestImpossibleMeasures(t *testing.T) {
	for want, c := range map[string]Config{
		"logloss needs probabilities":                 {Metrics: MetricsConfig{Measures: metric.Set{metric.LogLoss}}},
		"accuracy needs two classes":                  {Metrics: MetricsConfig{Measures: metric.Set{metric.Accuracy}}},
		"empty without learn.Config.Metrics.Measures": {Metrics: MetricsConfig{File: "m"}},
		"nothing is learned":                          {TestOnly: true, Holdout: HoldoutConfig{Valid: []Input{textInput("v", "")}}},
	} {
		c.Data.Inputs, c.Output.Create = []Input{textInput("all", "1 | a\n")}, new(files).create
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	c := Config{
		Data:    DataConfig{Inputs: []Input{textInput("all", "1 | a\n")}},
		Holdout: HoldoutConfig{Valid: []Input{textInput("empty.vw", "| a\n")}},
		Passes:  2,
	}
	if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "empty.vw: no example of it has a label") {
		t.Errorf("a validation set without labels: %v", err)
	}
}
