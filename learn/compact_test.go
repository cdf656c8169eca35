// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"io"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/optim/sgd"
	"github.com/gvw-project/gvw/option"
)

// A table of the weights that occur gives the files and the reports of a table of all weights. A second run starts from
// the model, as a training and as a test.
func TestCompactTablesChangeNothing(t *testing.T) {
	text := strings.ReplaceAll(randomText(200), "\n1 |f w1", "\n\n1 2 tag|f w1") + "|f w3 w4 unseen\n1 |g v1 v2:0.5 v3\n"
	for name, change := range map[string]func(*Config){
		"defaults":      func(c *Config) {},
		"interactions":  func(c *Config) { c.Features.Namespaces.Interactions = []string{"ff", "ffg"} },
		"holdout":       func(c *Config) { c.Passes, c.Holdout.Period, c.Data.Cache = 3, 7, t.TempDir()+"/c" },
		"holdout after": func(c *Config) { c.Holdout.After = 150 },
		"cache": func(c *Config) {
			c.Passes, c.Loss.Function, c.Data.Cache, c.Holdout.Off = 3, "logistic", t.TempDir()+"/c", true
		},
		"cache on disk": func(c *Config) {
			c.Passes, c.Data.Cache, c.Data.ExampleMemory = 3, t.TempDir()+"/c", option.Some(0)
		},
		"early stop": func(c *Config) {
			c.Passes, c.Holdout.EarlyTerminate, c.SGD.LearningRate = 9, 1, option.Some[float32](5)
		},
		"validation set": func(c *Config) {
			c.Passes, c.Holdout.Valid = 3, []Input{textInput("valid", randomText(50)+"1 |h other words\n")}
		},
		"save per pass": func(c *Config) { c.Passes, c.Model.SavePerPass = 2, true },
		"adaptive":      func(c *Config) { c.SGD.Adaptive = true },
		"normalized":    func(c *Config) { c.SGD.Normalized = true },
		"plain":         func(c *Config) { c.SGD.Plain = true },
		"power":         func(c *Config) { c.SGD.PowerT = option.Some[float32](0.3) },
		"l1 and l2":     func(c *Config) { c.Reg.L1, c.Reg.L2, c.Passes = 1e-4, 1e-4, 2 },
		"sparse l2":     func(c *Config) { c.Reg.SparseL2 = 0.01 },
		"constant":      func(c *Config) { c.Features.Constant = 0.5 },
		"weights only":  func(c *Config) { c.Model.PredictOnly = true },
		"readable":      func(c *Config) { c.Model.Readable = "text" },
		"test":          func(c *Config) { c.TestOnly = true },
		"hybrid":        func(c *Config) { c.Hybrid, c.Loss.Function = &Hybrid{SGDPasses: 2, LBFGSPasses: 5}, "logistic" },
		"hybrid with a cache": func(c *Config) {
			c.Hybrid, c.Loss.Function, c.Data.Cache = &Hybrid{SGDPasses: 2, LBFGSPasses: 5}, "logistic", t.TempDir()+"/c"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := func(compact bool, more func(*Config)) (map[string][]byte, *Report) {
				return hogwild(t, text, 0, func(c *Config) {
					change(c)
					if more != nil {
						more(c)
					}
					if c.Data.Cache != "" {
						c.Data.Cache, c.Data.KillCache = t.TempDir()+"/c", true
					}
					if compact {
						c.compactFrom = 1
					}
				})
			}
			want, report := run(false, nil)
			got, again := run(true, nil)
			sameFiles(t, want, got, report, again)
			for _, test := range []bool{false, true} {
				load := func(c *Config) {
					c.Model.Initial, c.Features, c.Hybrid = "m", FeatureConfig{}, nil
					c.Model.Open = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(want["m"]))), nil }
					if test {
						c.TestOnly, c.Model.Final, c.Model.Readable, c.Passes, c.Holdout.Valid = true, "", "", 1, nil
					}
				}
				wide, report := run(false, load)
				dense, again := run(true, load)
				sameFiles(t, wide, dense, report, again)
			}
		})
	}
}

// A compact table takes the place of one of 512 MiB or more, where nothing needs the indices of the weights.
func TestCompactTablesReplaceLargeOnes(t *testing.T) {
	for _, c := range []struct {
		name   string
		want   bool
		change func(*Config)
	}{
		{"2^25 weights", true, func(c *Config) {}},
		{"2^24 weights", false, func(c *Config) { c.Features.Bits = 24 }},
		{"one float a weight", false, func(c *Config) { c.SGD.Plain = true }},
		{"one float each of 2^27 weights", true, func(c *Config) { c.SGD.Plain, c.Features.Bits = true, 27 }},
		{"weights that do not start at 0", false, func(c *Config) { c.Model.Start = sgd.Start{Weight: 1} }},
		{"a seed", true, func(c *Config) { c.Model.Start = sgd.Start{Seed: 5} }},
		{"sums that do not start at 0", false, func(c *Config) { c.SGD.InitialT = option.Some[float32](1) }},
		{"threads", false, func(c *Config) { c.SGD.Threads = 2 }},
		{"names", false, func(c *Config) { c.Model.InvertHash = "names" }},
		{"shuffled passes", false, func(c *Config) { c.Data.Shuffle = true }},
	} {
		cfg := Config{Features: FeatureConfig{Bits: 25}}
		c.change(&cfg)
		rule, err := cfg.updateRule()
		if err != nil {
			t.Fatal(err)
		}
		if got := cfg.compact(rule); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
	}
}

// A diverged training names the index of the weight, and not its number.
func TestCompactTablesKeepIndicesInErrors(t *testing.T) {
	message := func(from uint64) string {
		_, err := Run(t.Context(), Config{
			Data:        DataConfig{Inputs: []Input{textInput("text", "1 |f a:3e38 b:3e38\n1 |f c a:3e38 b:3e38\n1 |f a:3e38 b:3e38\n")}},
			Features:    FeatureConfig{Bits: 10},
			SGD:         SGDConfig{Plain: true, LearningRate: option.Some[float32](1e30)},
			Diagnostics: DiagnosticsConfig{Writer: io.Discard},
			compactFrom: from,
		})
		if err == nil {
			t.Fatal("the training has not diverged")
		}
		return err.Error()
	}
	want, got := message(0), message(1)
	if got != want || !strings.Contains(want, "number") {
		t.Errorf("got %q, want %q", got, want)
	}
}
