// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/option"
)

// replicas runs a training or a test of text with a number of replicas, and returns its files and its report.
func replicas(t *testing.T, text string, threads int, change func(*Config)) (map[string][]byte, *Report) {
	t.Helper()
	return hogwild(t, text, 0, func(c *Config) {
		c.SGD.Threads = threads
		change(c)
	})
}

// sameFiles compares the files and the reports of two runs.
func sameFiles(t *testing.T, want, got map[string][]byte, report, again *Report) {
	t.Helper()
	if diff := diffFiles(want, got); diff != "" {
		t.Errorf("the files differ: %.300s", diff)
	}
	if diff := cmp.Diff(report, again, cmpopts.EquateNaNs(), cmpopts.IgnoreFields(Report{}, "Loss")); diff != "" {
		t.Errorf("the reports differ: %s", diff)
	}
}

// The first block of examples is that of the first replica. After its merge, which changes no weight, the model is that of
// the learner without replicas, as are all predictions, counts and losses.
func TestReplicasOfOneBlock(t *testing.T) {
	text := strings.ReplaceAll(randomText(200), "\n1 |f w1", "\n\n1 2 tag|f w1") + "|f w3 w4\n"
	for name, change := range map[string]func(*Config){
		"holdout":        func(c *Config) {},
		"holdout after":  func(c *Config) { c.Holdout.After = 150 },
		"several passes": func(c *Config) { c.Passes, c.Loss.Function = 3, "logistic" },
		"early stop": func(c *Config) {
			c.Passes, c.Holdout.EarlyTerminate, c.SGD.LearningRate = 9, 1, option.Some[float32](5)
		},
		"save per pass":  func(c *Config) { c.Passes, c.Model.SavePerPass = 2, true },
		"first examples": func(c *Config) { c.Data.Examples = 90 },
		"binary":         func(c *Config) { c.Loss.Binary, c.Loss.Function = true, "logistic" },
		"adaptive":       func(c *Config) { c.SGD.Adaptive = true },
		"normalized":     func(c *Config) { c.SGD.Normalized = true },
		"power":          func(c *Config) { c.SGD.PowerT = option.Some[float32](0.3) },
		"initial t":      func(c *Config) { c.SGD.InitialT = option.Some[float32](2) },
		"start weights":  func(c *Config) { c.Model.Start.Random = true },
		"constant":       func(c *Config) { c.Features.Constant = 0.5 },
		"weights only":   func(c *Config) { c.Model.PredictOnly = true },
		"test":           func(c *Config) { c.TestOnly = true },
	} {
		t.Run(name, func(t *testing.T) {
			want, report := replicas(t, text, 1, change)
			got, again := replicas(t, text, 3, change)
			sameFiles(t, want, got, report, again)
		})
	}
}

// Which replica learns from an example depends on the examples before it: two runs on any number of processors have the same
// bytes. All examples are counted, and the loss is near that of the learner without replicas.
func TestReplicasDoNotDependOnTheTiming(t *testing.T) {
	n := 20_000
	if sampled.UnderRace {
		n = 4000
	}
	text := randomText(n)
	for _, every := range []string{"", "50", "pass"} {
		train := func(c *Config) {
			c.Average.Every, c.Loss.Function, c.Passes, c.Data.Cache = every, "logistic", 2, t.TempDir()+"/c"
		}
		plain, one := replicas(t, text, 1, train)
		want, report := replicas(t, text, 3, train)
		before := runtime.GOMAXPROCS(1)
		got, again := replicas(t, text, 3, train)
		runtime.GOMAXPROCS(before)
		sameFiles(t, want, got, report, again)
		if diffFiles(map[string][]byte{"m": plain["m"]}, map[string][]byte{"m": want["m"]}) == "" {
			t.Error("the model is that of one replica")
		}
		if report.Stats.Examples != one.Stats.Examples {
			t.Errorf("got %d examples, want %d", report.Stats.Examples, one.Stats.Examples)
		}
		if want, got := one.Stats.AverageLoss(), report.Stats.AverageLoss(); every != "pass" && math.Abs(got-want) > 0.05*want {
			t.Errorf("every %q: got a loss of %v, and %v with one replica", every, got, want)
		}
	}
}

// An example whose own value is infinite, or whose prediction is infinite but not learned from, does not end the training. The
// examples behind it are learned from by all replicas.
func TestReplicasPassInfiniteExamples(t *testing.T) {
	for name, line := range map[string]string{
		"value":         "1 |f w1 w2:inf\n",
		"initial value": "1 1 inf |f w1 w2\n",
		"held out":      "1 |f" + strings.Repeat(" w1:3e38 w2:3e38", 50) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			text := randomText(99) + line + randomText(100)
			change := func(c *Config) {
				if name == "held out" {
					c.Passes, c.Holdout.Period, c.Data.Cache = 2, 100, t.TempDir()+"/c"
				}
			}
			want, report := replicas(t, text, 1, change)
			got, again := replicas(t, text, 2, change)
			sameFiles(t, want, got, report, again)
		})
	}
}

func TestReplicasDiverge(t *testing.T) {
	c := Config{
		Data:        DataConfig{Inputs: []Input{textInput("text", randomText(20)+"1 |f w1:1e30\n1e30 |f w1:1e30\n")}},
		SGD:         SGDConfig{Threads: 2, Adaptive: true, LearningRate: option.Some[float32](1e30)},
		Average:     AverageConfig{Every: "1"},
		Diagnostics: DiagnosticsConfig{Writer: io.Discard},
	}
	if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "the training diverged") {
		t.Errorf("got %v, want the example at which training has diverged", err)
	}
}

// A model that replicas have made continues with replicas, and with a rule that they cannot have it does not.
func TestReplicasContinueAModel(t *testing.T) {
	text := randomText(500)
	out, _ := replicas(t, text, 2, func(c *Config) {})
	for threads := 1; threads <= 2; threads++ {
		load := func(c *Config) {
			c.Model.Initial, c.Average.Every = "m", "200"
			c.Model.Open = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(out["m"]))), nil }
		}
		if _, report := replicas(t, text, threads, load); report.Stats.Examples != 500 {
			t.Errorf("%d threads: got %d examples", threads, report.Stats.Examples)
		}
	}
	plain, _ := hogwild(t, text, 0, func(c *Config) { c.SGD.Plain = true })
	c := Config{
		Data: DataConfig{Inputs: []Input{textInput("text", text)}},
		SGD:  SGDConfig{Threads: 2, Plain: true},
		Model: ModelConfig{Initial: "m", Open: func(string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(string(plain["m"]))), nil
		}},
		Diagnostics: DiagnosticsConfig{Writer: io.Discard},
	}
	if _, err := Run(t.Context(), c); err == nil || !strings.Contains(fmt.Sprint(err), "SGD.Threads") {
		t.Errorf("got %v, want a fault of SGD.Threads", err)
	}
}
