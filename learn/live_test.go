// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/option"
)

// liveCases are the learners that a server has.
var liveCases = map[string]func(*Config){
	"sgd":          func(*Config) {},
	"plain":        func(c *Config) { c.SGD.Plain = true; c.Reg.L1, c.Reg.L2 = 1e-4, 1e-4 },
	"interactions": func(c *Config) { c.Features.Namespaces.Quadratic = []string{"::"} },
	"logistic":     func(c *Config) { c.Loss.Function, c.Loss.Link = "logistic", "logistic" },
	"binary":       func(c *Config) { c.Loss.Function, c.Loss.Binary = "hinge", true },
	"weights":      func(c *Config) { c.Data.ClassWeights = []ClassWeight{{Label: 1, Weight: 3}} },
	"ftrl":         func(c *Config) { c.FTRL.Rule = ftrl.Proximal },
	"coin":         func(c *Config) { c.FTRL.Rule = ftrl.Coin },
	"low rank":     func(c *Config) { c.Learner.Options = map[string][]string{"lrq": {"ff3"}} },
	"tree":         func(c *Config) { c.Learner.Options = map[string][]string{"log_multi": {"4"}} },
	"classes":      func(c *Config) { c.OAA.Classes = 4 },
	"scores":       func(c *Config) { c.OAA.Classes, c.OAA.Scores = 4, true },
	"class ftrl":   func(c *Config) { c.OAA.Classes, c.FTRL.Rule = 4, ftrl.Proximal },
	"probabilities": func(c *Config) {
		c.OAA.Classes, c.OAA.Probabilities, c.Loss.Function = 4, true, "logistic"
	},
}

// liveText returns examples with the labels of a case.
func liveText(c *Config) string {
	if c.labels() == feature.ClassLabels {
		return classText(120)
	}
	return randomText(120)
}

// openLive opens a learner that the test closes.
func openLive(t testing.TB, c Config) *Live {
	t.Helper()
	l, err := Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// answersOf returns the answers of a session to all lines.
func answersOf(t testing.TB, l *Live, text string) string {
	t.Helper()
	s, err := l.Session(SessionConfig{})
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for line := range strings.Lines(text) {
		ok, err := s.Parse([]byte(line))
		if err == nil && ok {
			all, err = s.AppendAnswer(all)
		}
		if err != nil {
			t.Error(err)
		}
	}
	return string(all)
}

// trainCase trains a case by Run, and returns the predictions and the model.
func trainCase(t *testing.T, set func(*Config), text string) (predictions string, reg []byte) {
	t.Helper()
	out := &files{}
	c := Config{Features: FeatureConfig{Bits: 10}}
	set(&c)
	c.Data.Inputs = []Input{textInput("train", text)}
	c.Model.Final, c.Output.Predictions, c.Output.Create = "m", "p", out.create
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	got := named(out)
	return got["p"], []byte(got["m"])
}

// A server that tests predicts as a run does, in all its sessions at the same time, and saves the
// file that it has loaded.
func TestLivePredictsAsRun(t *testing.T) {
	t.Parallel()
	for name, set := range liveCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Config{}
			set(&c)
			text := liveText(&c)
			_, file := trainCase(t, set, text)
			c.TestOnly = true
			c.Model.Initial, c.Model.Open = "m", opens(file)
			test, out := c, &files{}
			test.Data.Inputs = []Input{textInput("test", text)}
			test.Output.Predictions, test.Output.Create = "p", out.create
			if _, err := Run(t.Context(), test); err != nil {
				t.Fatal(err)
			}
			want := named(out)["p"]
			l := openLive(t, c)
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					if diff := cmp.Diff(want, answersOf(t, l, text)); diff != "" {
						t.Errorf("answers (-want +got):\n%s", diff)
					}
				})
			}
			wg.Wait()
			var saved bytes.Buffer
			if err := l.Save(t.Context(), &saved); err != nil || !bytes.Equal(saved.Bytes(), file) {
				t.Errorf("saved %d bytes, want the %d of the file; error %v", saved.Len(), len(file), err)
			}
		})
	}
}

// A server that learns answers and learns as a run does: a model that it saves has the weights of the run's,
// also while it goes on.
func TestLiveLearnsAsRun(t *testing.T) {
	t.Parallel()
	for name, set := range liveCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Config{Features: FeatureConfig{Bits: 10}}
			set(&c)
			text := liveText(&c)
			want, file := trainCase(t, set, text)
			l := openLive(t, c)
			half := strings.Index(text[len(text)/2:], "\n") + len(text)/2 + 1
			got := answersOf(t, l, text[:half])
			if err := l.Save(t.Context(), io.Discard); err != nil { // a checkpoint changes nothing
				t.Fatal(err)
			}
			got += answersOf(t, l, text[half:])
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			var saved bytes.Buffer
			if err := l.Save(t.Context(), &saved); err != nil {
				t.Fatal(err)
			}
			a, b := readModel(t, file), readModel(t, saved.Bytes())
			// A run of one pass counts that pass, and a server counts none.
			b.Resume.CurrentPass = a.Resume.CurrentPass
			if diff := cmp.Diff(a, b); diff != "" {
				t.Errorf("model (-run +server):\n%s", diff)
			}
		})
	}
}

// Requests without labels do not grow the model of a server that learns.
func TestLiveKeepsNoIDsOfPredictions(t *testing.T) {
	t.Parallel()
	size := func(text string) int {
		l := openLive(t, Config{Features: FeatureConfig{Bits: 10}, Learner: LearnerConfig{Options: learnerValues("marginal=m")}})
		answersOf(t, l, text)
		var saved bytes.Buffer
		if err := l.Save(t.Context(), &saved); err != nil {
			t.Fatal(err)
		}
		return saved.Len()
	}
	learned := size("1 |m a b\n")
	if got := size("1 |m a b\n|m c d\n|m e f g h\n"); got != learned {
		t.Errorf("a model of %d bytes, want %d", got, learned)
	}
	if got := size("1 |m a b\n0 |m c d\n"); got <= learned {
		t.Errorf("a model of %d bytes with a second id, want more than %d", got, learned)
	}
}

func readModel(t *testing.T, file []byte) *model.Regressor {
	t.Helper()
	reg, err := model.Read(bytes.NewReader(file), model.Limits{Bits: 30})
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// A malformed line is an error in a strict session only. Later lines are not affected.
func TestLiveMalformedLine(t *testing.T) {
	t.Parallel()
	l := openLive(t, Config{Features: FeatureConfig{Bits: 10}})
	for _, c := range []struct {
		config SessionConfig
		line   string
		fails  bool
		empty  bool
	}{
		{SessionConfig{}, "1 |a x:1:2\n", false, false},
		{SessionConfig{Strict: true}, "1 |a x:1:2\n", true, true},
		{SessionConfig{}, "\n", false, true},
		{SessionConfig{Format: FormatJSON}, `{"_label":1,"a":{"x":1}}` + "\n", false, false},
		{SessionConfig{Format: FormatJSON}, `{"_label":1,"a":` + "\n", true, true},
	} {
		s, err := l.Session(c.config)
		if err != nil {
			t.Fatal(err)
		}
		ok, err := s.Parse([]byte(c.line))
		if (err != nil) != c.fails || ok == c.empty {
			t.Errorf("%+v, %q: example %v, error %v", c.config, c.line, ok, err)
		}
		if c.config.Format != "" {
			continue
		}
		if ok, err := s.Parse([]byte("1 |a y\n")); !ok || err != nil {
			t.Errorf("after %q: example %v, error %v", c.line, ok, err)
		}
	}
	if _, err := l.Session(SessionConfig{Format: "csv"}); err == nil {
		t.Error("a session of CSV was made")
	}
}

// Open refuses what only a run has, and names the field.
func TestLiveRefuses(t *testing.T) {
	t.Parallel()
	for field, set := range map[string]func(*Config){
		"Passes":             func(c *Config) { c.Passes = 2 },
		"Data.Format":        func(c *Config) { c.Data.Format = FormatCSV },
		"LDA.Topics":         func(c *Config) { c.LDA.Topics = 3 },
		"Hybrid":             func(c *Config) { c.Hybrid = &Hybrid{1, 2} },
		"Batch.BFGS":         func(c *Config) { c.Batch.BFGS = true },
		"Malt.Graph":         func(c *Config) { c.Malt.Graph = "all" },
		"Output.Predictions": func(c *Config) { c.Output.Predictions = "p" },
		"Model.Final":        func(c *Config) { c.Model.Final = "m" },
		"Reg.Output":         func(c *Config) { c.Reg.Output = "r" },
		"Model.ID":           func(c *Config) { c.Model.ID = "a\nb" }, // its model could not be saved
	} {
		c := Config{}
		set(&c)
		if _, err := Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), "learn.Config."+field) {
			t.Errorf("%s: got %v", field, err)
		}
	}
}

// A test does not save a file that has replaced the one that it has loaded.
func TestLiveSavesWhatItHasLoaded(t *testing.T) {
	t.Parallel()
	_, file := trainCase(t, func(*Config) {}, randomText(10))
	l := openLive(t, Config{TestOnly: true, Model: ModelConfig{Initial: "m", Open: func(string) (io.ReadCloser, error) { return opens(file)("m") }}})
	_, file = trainCase(t, func(c *Config) { c.SGD.LearningRate = option.Some[float32](3) }, randomText(10))
	if err := l.Save(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("got %v", err)
	}
	if err := openLive(t, Config{TestOnly: true}).Save(t.Context(), io.Discard); err == nil {
		t.Error("a test without a model has saved one")
	}
}

// Predicting allocates nothing.
func TestLiveAllocatesNothing(t *testing.T) {
	if sampled.UnderRace {
		t.Skip("the race detector allocates")
	}
	for _, name := range []string{"sgd", "interactions", "logistic", "scores"} {
		for _, test := range []bool{true, false} {
			c := Config{TestOnly: test, Features: FeatureConfig{Bits: 10}}
			liveCases[name](&c)
			s, err := openLive(t, c).Session(SessionConfig{})
			if err != nil {
				t.Fatal(err)
			}
			line, dst := []byte("1 tag|a x y:2 |b z\n"), make([]byte, 0, 256)
			answer := func() {
				if ok, err := s.Parse(line); !ok || err != nil {
					t.Fatal(err)
				}
				if dst, err = s.AppendAnswer(dst[:0]); err != nil {
					t.Fatal(err)
				}
			}
			for range 200 {
				answer()
			}
			if n := testing.AllocsPerRun(1000, answer); n != 0 {
				t.Errorf("%s, test %v: %v allocations", name, test, n)
			}
		}
	}
}

func BenchmarkLive(b *testing.B) {
	for _, features := range []int{5, 20, 100} {
		b.Run(fmt.Sprint(features), func(b *testing.B) {
			s, err := openLive(b, Config{TestOnly: true}).Session(SessionConfig{})
			if err != nil {
				b.Fatal(err)
			}
			line := []byte("1 tag|a")
			for i := range features {
				line = fmt.Appendf(line, " feature%d:0.5", i)
			}
			line = append(line, '\n')
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Parse(line); err != nil {
					b.Fatal(err)
				}
				if dst, err = s.AppendAnswer(dst[:0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
