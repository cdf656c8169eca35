// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/option"
)

// averaged are ways to average, with the number of steps of their jobs.
var averaged = []struct {
	method
	steps int
}{
	{method{"models, pass", func(c *Config) { c.Passes, c.Average.Aggregate = 3, "model" }}, 3},
	{method{"models, every 30, l1, l2, shuffle", func(c *Config) {
		c.Passes, c.Average = 2, AverageConfig{Aggregate: "model", Every: "30"}
		c.Reg.L1, c.Reg.L2, c.Data.Shuffle, c.Data.ShuffleSeed = 1e-4, 1e-3, true, 5
	}}, 9},
	{method{"models, fraction, holdout, metrics", func(c *Config) {
		c.Passes, c.Average = 8, AverageConfig{Aggregate: "model", Every: "0.3", Batch: "4"}
		c.Holdout.Off, c.Holdout.EarlyTerminate, c.Metrics.Measures = false, 2, []string{"accuracy", "logloss"}
		c.Loss.Function, c.SGD.LearningRate = "logistic", option.Some[float32](40)
	}}, 13},
	{method{"models, outer, squared, validation", func(c *Config) {
		c.Passes, c.Average, c.Outer = 3, AverageConfig{Aggregate: "model", Every: "0.5"}, OuterConfig{Rate: 0.8, Momentum: 0.5}
		c.Loss.Function, c.Holdout.Valid = "squared", []Input{textInput("valid", randomText(50))}
	}}, 7},
	{method{"models, control variates", func(c *Config) {
		c.Passes, c.Average, c.Reg.L2 = 2, AverageConfig{Aggregate: "model", Every: "random:0.05"}, 1e-2
	}}, 10},
	{method{"gradients", func(c *Config) {
		c.Passes, c.Average, c.Reg.L2, c.Reg.L1 = 3, AverageConfig{Aggregate: "gradient", Batch: "0.25"}, 1e-3, 1e-4
	}}, 13},
	{method{"gradients, hinge, holdout", func(c *Config) {
		c.Passes, c.Average, c.Loss.Function = 3, AverageConfig{Aggregate: "gradient", Batch: "17"}, "hinge"
		c.Holdout.Off = false
	}}, 22},
	{method{"models, vw's rule, every 0.3, holdout, metrics", func(c *Config) {
		c.Passes, c.Average = 3, AverageConfig{Aggregate: "model", Every: "0.3"}
		c.SGD.Adaptive, c.SGD.Normalized, c.SGD.Invariant = true, true, true
		c.Holdout.Off, c.Metrics.Measures = false, []string{"accuracy", "logloss"}
	}}, 13},
	{method{"models, adaptive, every 25, l1, resume state", func(c *Config) {
		c.Passes, c.Average = 2, AverageConfig{Aggregate: "model", Every: "25"}
		c.SGD.Adaptive, c.Reg.L1, c.Reg.L2, c.Model.PredictOnly = true, 1e-4, 1e-4, false
	}}, 11},
	{method{"models, normalized, pass", func(c *Config) {
		c.Passes, c.Average, c.SGD.Normalized = 3, AverageConfig{Aggregate: "model"}, true
	}}, 3},
	{method{"hybrid of averages", func(c *Config) {
		c.Average, c.Hybrid, c.Reg.L2 = AverageConfig{Aggregate: "model", Every: "0.5"}, &Hybrid{SGDPasses: 2, LBFGSPasses: 4}, 1
	}}, 9},
	{method{"hybrid of averages, vw's rule", func(c *Config) {
		c.Average, c.Hybrid, c.Reg.L2 = AverageConfig{Aggregate: "model", Every: "50"}, &Hybrid{SGDPasses: 1, LBFGSPasses: 4}, 1
		c.SGD.Adaptive, c.SGD.Normalized, c.SGD.Invariant = true, true, true
	}}, 8},
	{method{"topics, every 40, shuffle", func(c *Config) {
		c.Passes, c.LDA.Topics, c.LDA.Batch, c.Average = 3, 3, 16, AverageConfig{Aggregate: aggregateModel, Every: "40"}
		c.Data.Shuffle, c.Data.ShuffleSeed, c.LDA.LearnAlpha = true, 5, true
	}}, 10},
}

// Whatever happens to a rank in a round, and however often, the job ends with the bytes of the run without faults,
// which keeps no state.
func TestDisturbedAveragingEndsAlike(t *testing.T) {
	const ranks = 3
	for i, m := range sampled.Race(t, averaged, 0, 3) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			want, report := rehearse(t, m.method, ranks)
			random := rand.New(rand.NewPCG(uint64(i), 4))
			rounds := 8
			if testing.Short() {
				rounds = 1
				t.Log("sampled: 1 round of 8")
			}
			for range rounds {
				var plan []disturbance
				for range 1 + random.IntN(4) {
					victim := random.IntN(ranks)
					plan = append(plan, disturbance{
						kind: disturbances[random.IntN(len(disturbances))], step: random.IntN(m.steps),
						victim: victim, source: (victim + 1 + random.IntN(ranks-1)) % ranks,
						busy: random.IntN(2) == 0, warm: random.IntN(2) == 0,
					})
				}
				got, again := rehearse(t, m.method, ranks, plan...)
				if diff := diffFiles(want, got); diff != "" {
					t.Errorf("%+v: the files differ: %s", plan, diff[:min(len(diff), 400)])
				}
				if diff := cmp.Diff(report, again, cmpopts.EquateNaNs(), cmpopts.IgnoreFields(Report{}, "Loss", "Shard")); diff != "" {
					t.Errorf("%+v: the reports differ: %s", plan, diff)
				}
			}
		})
	}
}

// With each way to average, four ranks have one model, whose loss on other examples is that of one process
// or less.
func TestAveragingReachesTheLossOfOneProcess(t *testing.T) {
	all := strings.SplitAfter(randomText(12000), "\n")
	text, held := strings.Join(all[:8000], ""), strings.Join(all[8000:], "")
	var out files
	train := func(c *Config, name string) {
		c.Passes, c.Output.Create, c.Model.Final, c.Features.Bits = 6, out.create, name, 10
		c.Loss.Function, c.Holdout.Off, c.Reg.L2 = "logistic", true, 1e-4
	}
	one := Config{Data: DataConfig{Inputs: []Input{textInput("all", text)}}}
	train(&one, "one")
	if _, err := Run(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	want := lossOf(t, &out, "one", held)
	for _, c := range sampled.Race(t, sampled.Short(t, []struct {
		average AverageConfig
		change  func(*Config)
	}{
		{AverageConfig{Aggregate: "model"}, func(*Config) {}},
		{AverageConfig{Aggregate: "model", Every: "100"}, func(*Config) {}},
		{AverageConfig{Aggregate: "model", Every: "0.05", Batch: "5"}, func(c *Config) { c.SGD.LearningRate = option.Some[float32](2) }},
		{AverageConfig{Aggregate: "model", Every: "0.25"}, func(c *Config) { c.Outer = OuterConfig{Rate: 1, Momentum: 0.5} }},
		{AverageConfig{Aggregate: "model", Every: "random:0.02"}, func(*Config) {}},
		{AverageConfig{Aggregate: "model", Every: "0.2"}, func(c *Config) { c.SGD.Adaptive, c.SGD.Normalized, c.SGD.Invariant = true, true, true }},
		{AverageConfig{Aggregate: "gradient", Batch: "0.01"}, func(c *Config) { c.SGD.LearningRate = option.Some[float32](8) }},
	}, 0, 6), 1, 2) {
		name := fmt.Sprintf("%s,%s,%s", c.average.Aggregate, c.average.Every, c.average.Batch)
		t.Run(name, func(t *testing.T) {
			reports, errs := runRanks(t, deal(text, 4), func(rank int, cfg *Config) {
				train(cfg, fmt.Sprintf("%s-%d", name, rank))
				cfg.Average = c.average
				c.change(cfg)
			})
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			for rank, r := range reports {
				if r.Digest != reports[0].Digest || r.Stats.Examples != 6*8000 {
					t.Errorf("rank %d: %d examples, model %x; want %d and that of rank 0, %x", rank, r.Stats.Examples, r.Digest[:4], 6*8000, reports[0].Digest[:4])
				}
			}
			if got := lossOf(t, &out, name+"-0", held); !(got < 1.02*want) {
				t.Errorf("loss: got %.5f, want %.5f or less, within 2 %%", got, want)
			} else {
				t.Logf("loss: %.5f, of one process %.5f", got, want)
			}
		})
	}
}

// With outer steps the validation loss is that of the weights that a pass ends with: it equals the loss of a test of the
// model. Where training stops early, the model is that of the best pass.
func TestOuterStepsValidateTheModel(t *testing.T) {
	set := randomText(90)
	flip := strings.NewReplacer("-1 |", "1 |", "1 |", "-1 |")
	for _, c := range []struct {
		name  string
		ranks int
		outer OuterConfig
		valid string
		stops bool
	}{
		{"momentum, one process", 1, OuterConfig{Momentum: 0.5}, set, false},
		{"momentum", 3, OuterConfig{Momentum: 0.5}, set, false},
		{"rate", 3, OuterConfig{Rate: 0.5}, set, false},
		{"stopped early", 3, OuterConfig{Rate: 0.7, Momentum: 0.5}, flip.Replace(set), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out files
			var log bytes.Buffer
			_, errs := runRanks(t, deal(randomText(300), c.ranks), func(rank int, config *Config) {
				config.Passes, config.Average, config.Outer = 3, AverageConfig{Aggregate: "model", Every: "0.5"}, c.outer
				config.Holdout.Valid, config.Holdout.EarlyTerminate = []Input{textInput("valid", deal(c.valid, c.ranks)[rank])}, 1
				if rank == 0 {
					config.Output.Create, config.Model.Final, config.Metrics.PassLog = out.create, "m", &log
				}
			})
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			passes := lines(t, log.String())
			kept := len(passes) - 1
			if stopped := passes[kept].Stop; stopped != c.stops {
				t.Fatalf("stopped early: got %t, want %t:\n%s", stopped, c.stops, &log)
			}
			for c.stops && !passes[kept].Best {
				kept--
			}
			if got, want := *passes[kept].Valid["loss"], lossOf(t, &out, "m", c.valid); math.Abs(got-want) > 1e-6 {
				t.Errorf("validation loss of pass %d: got %v, want that of the model, %v", passes[kept].Pass, got, want)
			}
		})
	}
}

// A job with one rank whose shard is empty, or much smaller than the others, ends with the same model on all ranks.
func TestAveragingOfUnequalShards(t *testing.T) {
	for _, m := range averaged {
		reports, errs := runRanks(t, []string{randomText(200), "", randomText(9)}, func(_ int, c *Config) { m.change(c) })
		if err := errors.Join(errs...); err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		for rank, r := range reports {
			if r.Digest != reports[0].Digest {
				t.Errorf("%s: rank %d has another model", m.name, rank)
			}
		}
	}
}

// Each schedule gives the same model on all ranks, and in every run. It decides the order of additions, and thereby the
// last bits of the averages.
func TestAveragingWithAllSchedules(t *testing.T) {
	t.Parallel()
	for _, c := range []AverageConfig{{Aggregate: "model", Every: "40"}, {Aggregate: "gradient", Batch: "40"}} {
		orders := map[[32]byte]bool{}
		for _, name := range schedule.Names {
			var digests [][32]byte
			for range 2 {
				reports, errs := runRanks(t, deal(randomText(300), 4), func(_ int, config *Config) {
					config.Passes, config.Average, config.Cluster.Join.Schedule = 2, c, name
				})
				if err := errors.Join(errs...); err != nil {
					t.Fatalf("%s, %v: %v", c.Aggregate, name, err)
				}
				for _, r := range reports {
					digests = append(digests, r.Digest)
				}
			}
			for i, d := range digests {
				if d != digests[0] {
					t.Errorf("%s, %v: rank %d has another model", c.Aggregate, name, i%4)
				}
			}
			orders[digests[0]] = true
		}
		if len(orders) < 2 {
			t.Errorf("%s: all schedules add in one order: want that of the schedule", c.Aggregate)
		}
	}
}

// A job continues without a rank. The progress of the others in the round does not matter: they end with the same
// bytes, also with control variates.
func TestAveragingContinuesWithoutARank(t *testing.T) {
	for _, m := range sampled.Short(t, averaged, 1, 3) {
		if strings.Contains(m.name, "shuffle") { // the order goes by rank
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			for _, at := range []int{0, 1, m.steps / 2} {
				var first []byte
				for _, s := range []shrinking{{at: at, left: left}, {at: at, worked: true, left: left}, {at: at, worked: true, missed: true, left: left}, {at: at, worked: true, left: left[:1]}} {
					got, reports := shrunk(t, m.method, s)
					if reports == nil {
						t.Fatalf("%v: the job had ended", s)
					}
					if len(s.left) == 1 {
						continue // it ends, with another model
					}
					if first == nil {
						first = got["m0"]
					}
					if string(got["m0"]) != string(first) || string(got["m2"]) != string(first) || len(first) == 0 {
						t.Errorf("%v: the models differ from that where no work was done", s)
					}
				}
			}
		})
	}
}

// One process whose rule is vw's has the same model with rounds and without, byte by byte, also where it continues
// with another learner.
func TestOneProcessWithRoundsIsThatWithout(t *testing.T) {
	t.Parallel()
	text := randomText(500)
	for i, change := range []func(*Config){
		func(c *Config) { c.SGD.Adaptive, c.SGD.Normalized, c.SGD.Invariant = true, true, true },
		func(c *Config) { c.SGD.Adaptive, c.Reg.L1, c.Reg.L2, c.Model.PredictOnly = true, 1e-4, 1e-3, true },
		func(c *Config) { c.SGD.Normalized, c.Reg.L1, c.Holdout.Off = true, 1e-4, false },
		func(c *Config) { c.SGD.Adaptive, c.Hybrid, c.Passes = true, &Hybrid{SGDPasses: 2, LBFGSPasses: 3}, 0 },
	} {
		var out files
		for j, average := range []AverageConfig{{}, {Aggregate: "model"}, {Aggregate: "model", Every: "0.13"}, {Aggregate: "model", Every: "7"}} {
			c := Config{Data: DataConfig{Inputs: []Input{textInput("d", text)}}, Passes: 4, Average: average, Features: FeatureConfig{Bits: 8}}
			c.Loss.Function, c.Holdout.Off, c.Output.Create, c.Model.Final = "logistic", true, out.create, fmt.Sprint(j)
			change(&c)
			if _, err := Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if got := out.m[fmt.Sprint(j)]; string(got) != string(out.m["0"]) || len(got) == 0 {
				t.Errorf("configuration %d: the model of %+v differs from that without rounds", i, average)
			}
		}
	}
}

func TestAveragingRefuses(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Average.Aggregate = "" }, "it needs learn.Config.Average.Aggregate or learn.Config.SGD.Threads"},
		{func(c *Config) { c.Average = AverageConfig{Aggregate: "sum"} }, "want model or gradient"},
		{func(c *Config) { c.Average.Batch = "0" }, "Average.Batch"},
		{func(c *Config) { c.Average.Every = "often" }, "Average.Every"},
		{func(c *Config) { c.Average.Aggregate = "gradient" }, "Average.Every"},
		{func(c *Config) { c.Average.Every, c.Reg.L1 = "random:0.1", 1 }, "smooth loss"},
		{func(c *Config) { c.Average.Every, c.Outer.Momentum = "random:0.1", 0.5 }, "Outer.Rate"},
		{func(c *Config) { c.Outer.Momentum = 1 }, "less than 1"},
		{func(c *Config) { c.Average, c.Outer.Rate = AverageConfig{}, 0.5 }, "Outer.Rate"},
		{func(c *Config) { c.SGD.Adaptive, c.Average.Batch = true, "5" }, "SGD.Adaptive: adaptive and normalised steps are those of single examples: leave it or learn.Config.Average.Batch out"},
		{func(c *Config) { c.SGD.Normalized, c.Average.Every = true, "random:0.1" }, "SGD.Normalized: adaptive and normalised models have no control variates: leave it or learn.Config.Average.Every=random:0.1 out"},
		{func(c *Config) { c.SGD.Adaptive, c.Outer.Momentum = true, 0.5 }, "no outer step: leave it or learn.Config.Outer.Rate and learn.Config.Outer.Momentum out"},
		{func(c *Config) { c.SGD.Adaptive, c.Average = true, AverageConfig{Aggregate: "gradient"} }, "leave it or learn.Config.Average.Aggregate=gradient out"},
		{func(c *Config) { c.SGD.Invariant, c.Average.Batch = true, "5" }, "SGD.Invariant"},
		{func(c *Config) { c.SGD.LearningRate = option.Some[float32](0) }, "SGD.LearningRate"},
		{func(c *Config) { c.SGD.PowerT = option.Some[float32](-1) }, "SGD.PowerT"},
		{func(c *Config) { c.SGD.DecayLearningRate = 0.5 }, "SGD.DecayLearningRate"},
		{func(c *Config) { c.Reg.SparseL2 = 0.5 }, "Reg.SparseL2"},
		{func(c *Config) { c.Batch.BFGS, c.Passes = true, 3 }, "L-BFGS"},
		{func(c *Config) { c.TestOnly = true }, "nothing is learned"},
		{func(c *Config) { c.OAA.Classes = 3 }, "simple labels"},
		{func(c *Config) { c.Malt.Graph = "all" }, "Malt.Graph"},
		{func(c *Config) { c.Model.FeatureMask = "m" }, "Model.FeatureMask"},
	} {
		cfg := Config{
			Data: DataConfig{Inputs: []Input{textInput("d", "1 | a\n")}}, Loss: LossConfig{Function: "logistic"},
			Average: AverageConfig{Aggregate: "model", Every: "10"},
			Cluster: ClusterConfig{Join: &allreduce.Config{Server: "s:1", Job: allreduce.Job{UniqueID: 1}, Total: 4}},
		}
		if err := cfg.Validate(); err != nil {
			t.Fatal(err)
		}
		if c.change(&cfg); cfg.Validate() == nil || !strings.Contains(cfg.Validate().Error(), c.want) {
			t.Errorf("got %v, want %q", cfg.Validate(), c.want)
		}
	}
}

// Averaging has tables besides the weights, which depend on what is aggregated and on the recovery from losses.
func TestPlanOfAveraging(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		change func(*Config)
		want   uint64 // MiB besides the weights
	}{
		{func(*Config) {}, 0},
		{func(c *Config) { c.Reg.L1 = 1 }, 128},
		{func(c *Config) { c.Outer.Momentum = 0.5 }, 128},
		{func(c *Config) { c.Outer.Momentum, c.Holdout.Valid = 0.5, []Input{textInput("v", "1 | a\n")} }, 128 + 64},
		{func(c *Config) { c.Average.Every = "random:0.1" }, 64 + 128},
		{func(c *Config) { c.Average.Aggregate = "gradient" }, 192},
		{func(c *Config) { c.Cluster.Join.OnLoss = allreduce.Shrink }, 64 + 64},
		{func(c *Config) { c.Average.Aggregate, c.Cluster.Join.OnLoss = "gradient", allreduce.Wait }, 192 + 64},
	} {
		cfg := Config{
			Data: DataConfig{Inputs: []Input{textInput("x", "1 | a\n")}}, Features: FeatureConfig{Bits: 24}, Average: AverageConfig{Aggregate: "model"},
			Cluster: ClusterConfig{Join: &allreduce.Config{Server: "h:1", Job: allreduce.Job{UniqueID: 1}, Total: 4}},
		}
		c.change(&cfg)
		tables, err := cfg.Tables()
		if err != nil {
			t.Fatal(err)
		}
		if want := (64 + c.want) * mib; tables != want {
			t.Errorf("%+v: got %d MiB, want %d", cfg.Average, tables/mib, want/mib)
		}
		if p, err := cfg.Plan(); err != nil || !strings.HasSuffix(p.Method, cfg.Average.Aggregate) {
			t.Errorf("%+v: got %+v and %v", cfg.Average, p, err)
		}
	}
}
