// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/malt/graph"
	"github.com/gvw-project/gvw/optim/sgd"
)

// open opens a file that a run has committed.
func (f *files) open(name string) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.m[name]
	if !ok {
		return nil, fmt.Errorf("no run has written %s", name)
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// lossOf returns the mean loss of a model on other examples.
func lossOf(t *testing.T, out *files, name, text string) float64 {
	t.Helper()
	report, err := Run(t.Context(), Config{
		Data: DataConfig{Inputs: []Input{textInput("test", text)}}, TestOnly: true, Loss: LossConfig{Function: "logistic"},
		Model: ModelConfig{Initial: name, Open: out.open},
	})
	if err != nil {
		t.Fatal(err)
	}
	return report.AverageLoss()
}

// asyncCase is a way to train asynchronously.
type asyncCase struct {
	malt   MaltConfig
	change func(*Config)
}

func (c asyncCase) String() string {
	return fmt.Sprintf("%s,%s,%s", c.malt.Graph, c.malt.Sync, c.malt.Send)
}

// In each synchrony, with several graphs and kinds of updates, four ranks reach the loss of one process within 1 %.
func TestAsynchronousRanksReachTheLossOfOneProcess(t *testing.T) {
	all := strings.SplitAfter(randomText(12000), "\n")
	text, held := strings.Join(all[:8000], ""), strings.Join(all[8000:], "")
	train := func(c *Config, out *files, name string) {
		c.Passes, c.Output.Create, c.Model.Final = 6, out.create, name
	}
	var out files
	one := Config{
		Data: DataConfig{Inputs: []Input{textInput("all", text)}}, Features: FeatureConfig{Bits: 10},
		Loss: LossConfig{Function: "logistic"}, Holdout: HoldoutConfig{Off: true},
	}
	train(&one, &out, "one")
	if _, err := Run(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	want := lossOf(t, &out, "one", held)

	none := func(*Config) {}
	cases := []asyncCase{
		{MaltConfig{Graph: "all", Sync: "bsp", Send: "gradients", Every: 20}, none},
		{MaltConfig{Graph: "all", Sync: "bsp", Send: "deltas", Every: 20}, func(c *Config) { c.Outer = OuterConfig{1.5, 0.5} }},
		{MaltConfig{Graph: "all", Sync: "ssp:2", Send: "gradients", Every: 200, MaxDelay: 8}, none},
		{MaltConfig{Graph: "all", Sync: "bsp", Send: "gradients", Every: 20}, func(c *Config) { c.Reg.L1, c.Reg.L2 = 1e-7, 1e-6 }},
		{MaltConfig{Graph: "ring", Sync: "notify_ack", Send: "deltas:4", Every: 50}, none},
	}
	for _, graph := range []string{"all", "halton", "one_peer"} {
		for _, sync := range []string{"asp", "bsp", "ssp:2", "notify_ack"} {
			cases = append(cases, asyncCase{MaltConfig{Graph: graph, Sync: sync, Every: 50}, none})
		}
	}
	for _, c := range sampled.Race(t, sampled.Short(t, cases, 0, 3), 1, 3) {
		t.Run(c.String(), func(t *testing.T) {
			var out files
			reports, errs := runRanks(t, deal(text, 4), func(rank int, cfg *Config) {
				train(cfg, &out, fmt.Sprintf("m%d", rank))
				cfg.Malt = c.malt
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
			if got := lossOf(t, &out, "m0", held); math.Abs(got-want) > 0.01*want {
				t.Errorf("loss: got %.5f, want %.5f within 1 %%", got, want)
			} else {
				t.Logf("loss: %.5f, of one process %.5f", got, want)
			}
		})
	}
}

// With bsp the model does not depend on timing.
func TestSynchronousRoundsHaveFixedBits(t *testing.T) {
	var digests [][32]byte
	for range 3 {
		reports, errs := runRanks(t, deal(randomText(1000), 3), func(_ int, c *Config) {
			c.Passes, c.Malt = 2, MaltConfig{Graph: "halton", Sync: "bsp", Every: 7}
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		digests = append(digests, reports[0].Digest)
	}
	if digests[0] != digests[1] || digests[0] != digests[2] {
		t.Errorf("got models %x, want equal ones", digests)
	}
}

// Compressed updates of plain SGD, held-out examples, models of passes and the log of passes work as without
// asynchronous training.
func TestAsynchronousTrainingWritesWhatOthersDo(t *testing.T) {
	for _, compress := range []string{"", "f16", "q8", "top:10"} {
		var out files
		log := make([]bytes.Buffer, 3)
		reports, errs := runRanks(t, deal(randomText(900), 3), func(rank int, c *Config) {
			c.Passes, c.Holdout.Off, c.SGD.Plain = 3, false, true
			c.Malt = MaltConfig{Graph: "all", Sync: "bsp", Every: 10, Send: "gradients", Compress: compress}
			c.Metrics.PassLog = &log[rank]
			if rank == 0 {
				c.Output.Create, c.Model.Final, c.Model.SavePerPass = out.create, "m", true
			}
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"m", "m.1", "m.2", "m.3"} {
			if len(out.m[name]) == 0 {
				t.Errorf("%q: no model %s", compress, name)
			}
		}
		if r := reports[0]; r.Passes != 3 || !(r.HoldoutLoss > 0 && r.HoldoutLoss < 0.65) || r.HoldoutLoss != reports[1].HoldoutLoss {
			t.Errorf("%q: got %d passes and held-out losses %v and %v", compress, r.Passes, r.HoldoutLoss, reports[1].HoldoutLoss)
		}
		for rank := range log {
			if n := strings.Count(log[rank].String(), `"examples":270,`); n != 3 {
				t.Errorf("%q: rank %d logs %d passes of its 270 examples, want 3:\n%s", compress, rank, n, &log[rank])
			}
		}
	}
}

// classText returns n examples of four classes. Each has a word of its class and some of all.
func classText(n int) string {
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	var b strings.Builder
	for range n {
		class := rng.IntN(4) + 1
		fmt.Fprintf(&b, "%d |f c%dw%d w%d w%d:%.2f\n", class, class, rng.IntN(40), rng.IntN(50), rng.IntN(50), rng.Float32())
	}
	return b.String()
}

// With labels of many classes four ranks reach the errors of one process, and all have the same measures.
func TestAsynchronousClassesReachOneProcess(t *testing.T) {
	text := classText(2000)
	settings := func(c *Config) {
		c.Passes, c.OAA.Classes, c.Loss.Function, c.Features.Bits, c.Holdout.Off = 8, 4, "squared", 10, true
		c.Metrics.Measures, c.Metrics.PassLog = []string{metric.Accuracy}, nil
	}
	one := Config{Data: DataConfig{Inputs: []Input{textInput("all", text)}}}
	settings(&one)
	want, err := Run(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range sampled.Race(t, []MaltConfig{
		{Graph: "all", Sync: "bsp", Every: 20, Send: "gradients"},
		{Graph: "halton", Sync: "bsp", Every: 5},
	}, 0, 2) {
		var out files
		reports, errs := runRanks(t, deal(text, 4), func(rank int, c *Config) {
			settings(c)
			c.Malt, c.Output.Create = m, out.create
			c.Model.Final, c.Model.SavePerPass = fmt.Sprintf("m%d", rank), true
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		for rank, r := range reports {
			if r.Digest != reports[0].Digest || r.Measures[0].Value != reports[0].Measures[0].Value {
				t.Errorf("%s: rank %d: model %x and measure %v, want those of rank 0", m.Graph, rank, r.Digest[:4], r.Measures)
			}
		}
		if got, want := reports[0].Measures[0].Value, want.Measures[0].Value; got < want-0.02 {
			t.Errorf("%s: accuracy: got %.4f, want at least that of one process less 0.02, %.4f", m.Graph, got, want)
		} else {
			t.Logf("%s: accuracy %.4f, of one process %.4f", m.Graph, got, want)
		}
	}
}

// The measures of the last pass are over the examples of all ranks, and those of the validation set are of the final
// model: they equal those of a test of the model.
func TestAsynchronousTrainingMeasures(t *testing.T) {
	set := randomText(61)
	var out files
	var log bytes.Buffer
	logs := make([]bytes.Buffer, 3)
	reports, errs := runRanks(t, deal(randomText(900), 3), func(rank int, c *Config) {
		c.Passes, c.Malt = 5, MaltConfig{Graph: "all", Sync: "bsp", Every: 10}
		c.Metrics.Measures, c.Holdout.Off = []string{metric.LogLoss}, true
		c.Holdout.Valid = []Input{textInput("valid", deal(set, 3)[rank])}
		c.Diagnostics.Writer, c.Metrics.PassLog = &logs[rank], nil
		if rank == 0 {
			c.Output.Create, c.Model.Final, c.Metrics.PassLog = out.create, "m", &log
		}
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for rank := range logs {
		if n := strings.Count(logs[rank].String(), "\npass "); n < 4 {
			t.Errorf("rank %d prints the losses of %d passes, want 5:\n%s", rank, n, &logs[rank])
		}
		want := fmt.Sprintf("mean of the ranks: validation loss = %.6f", lossOf(t, &out, "m", set))
		if !strings.Contains(logs[rank].String(), want) {
			t.Errorf("rank %d: want %q:\n%s", rank, want, &logs[rank])
		}
	}
	if strings.Contains(log.String(), `"stop"`) || strings.Count(log.String(), `"valid":`) != 5 {
		t.Errorf("want five passes with their losses, and none that stops training:\n%s", &log)
	}
	if v := reports[0].Measures[0].Value; !(v > 0 && v < 0.7) || v != reports[1].Measures[0].Value {
		t.Errorf("got %v on rank 0 and %v on rank 1", v, reports[1].Measures[0].Value)
	}
}

// The graph of a file is the same on all ranks by its edges, whatever the name of the file.
func TestRanksAgreeOnTheEdgesOfAGraph(t *testing.T) {
	options := func(name, list string) string {
		g, err := graph.Read(strings.NewReader(list), name, 3)
		if err != nil {
			t.Fatal(err)
		}
		c := Config{Malt: MaltConfig{Graph: "file:" + name, Custom: g}}
		return c.options(sgd.Config{})
	}
	a, b := options("a", "0 1\n1 2\n2 0\n"), options("b", "# same\n2 0\n0 1\n1 2\n")
	if other := options("a", "0 2\n2 1\n1 0\n"); a != b || a == other {
		t.Errorf("got %q, %q and %q, want the first two equal", a, b, other)
	}
}

// A rank that is lost leaves its share of the data out with shrink, and ends the job with abort.
func TestAsynchronousTrainingLosesARank(t *testing.T) {
	for _, policy := range []allreduce.OnLoss{allreduce.Shrink, allreduce.Abort} {
		var out files
		reports, errs := runRanks(t, deal(randomText(1200), 4), func(rank int, c *Config) {
			c.Passes, c.Malt = 4, MaltConfig{Graph: "halton", Sync: "bsp", Every: 10}
			c.Cluster.Join.OnLoss = policy
			if rank == 1 {
				c.Data.Inputs[0] = failsOn(c.Data.Inputs[0], 3)
			} else {
				c.Output.Create, c.Model.Final = out.create, fmt.Sprintf("m%d", rank)
			}
		})
		for rank, err := range errs {
			lost := rank == 1 || policy == allreduce.Abort
			if lost && (err == nil || !strings.Contains(err.Error(), "pulled the plug")) {
				t.Errorf("%v: rank %d: got %v, want the cause", policy, rank, err)
			}
			if !lost && (err != nil || reports[rank].Digest != reports[0].Digest || len(out.m[fmt.Sprintf("m%d", rank)]) == 0) {
				t.Errorf("%v: rank %d: got %v, want the same model as rank 0", policy, rank, err)
			}
		}
	}
}

// With wait, and where the vectors grow, another attempt of a lost rank takes the weights of another rank, and continues
// where that one is.
func TestAsynchronousTrainingReplacesARank(t *testing.T) {
	all := strings.SplitAfter(randomText(4000), "\n")
	text, held := strings.Join(all[:3000], ""), strings.Join(all[3000:], "")
	for _, c := range sampled.Race(t, sampled.Short(t, []struct {
		malt   MaltConfig
		plain  bool
		fails  int // pass in which the first attempt of rank 1 is lost, from 1
		onLoss allreduce.OnLoss
	}{
		{MaltConfig{Graph: "halton", Sync: "bsp", Every: 10}, false, 4, allreduce.Wait},
		{MaltConfig{Graph: "all", Sync: "notify_ack", Every: 10, Send: "gradients"}, false, 2, allreduce.Wait},
		{MaltConfig{Graph: "one_peer", Sync: "asp", Every: 10}, true, 4, allreduce.Wait},
		{MaltConfig{Graph: "ring", Sync: "ssp:2", Every: 10, Send: "deltas:2"}, false, 3, allreduce.Wait},
		{MaltConfig{Graph: "halton", Sync: "bsp", Every: 10}, false, 4, allreduce.Open},
		{MaltConfig{Graph: "one_peer", Sync: "asp", Every: 10, Send: "deltas:2"}, true, 2, allreduce.Open},
	}, 1, 2), 0, 2) {
		t.Run(fmt.Sprintf("%s,%s,%v", c.malt.Graph, c.malt.Sync, c.onLoss), func(t *testing.T) {
			var out files
			train := func(lose bool, name string) ([]*Report, []error) {
				attempts := make([]int, 4)
				reports, errs := make([]*Report, 4), make([]error, 4)
				server, parts := serve(t), deal(text, 4)
				var ranks sync.WaitGroup
				for rank := range 4 {
					ranks.Go(func() {
						for ; attempts[rank] < 2; attempts[rank]++ {
							cfg := Config{
								Data:     DataConfig{Inputs: []Input{textInput(fmt.Sprintf("part %d", rank), parts[rank])}},
								Features: FeatureConfig{Bits: 10}, Loss: LossConfig{Function: "logistic"}, Holdout: HoldoutConfig{Off: true},
								Passes: 6, SGD: SGDConfig{Plain: c.plain}, Malt: c.malt,
								Cluster: ClusterConfig{Join: &allreduce.Config{
									Server: server, Job: allreduce.Job{UniqueID: 9, RunKey: "run"}, Rank: rank, Total: 4, Listen: "127.0.0.1:0",
									OnLoss: c.onLoss,
								}},
							}
							switch in := &cfg.Data.Inputs[0]; {
							case rank == 1 && lose && attempts[rank] == 0:
								*in = failsOn(*in, c.fails)
							case rank != 1 && lose && c.onLoss == allreduce.Open:
								// Otherwise the others may end before, and the replacement is not needed. It takes its weights
								// from a rank that exchanges, hence the wait for its membership only.
								*in = onOpen(*in, cfg.Passes, func() { awaitVectors(t, server, cfg.Cluster.Join.Job, replaced) })
							}
							if rank == 0 {
								cfg.Output.Create, cfg.Model.Final = out.create, name
							}
							if reports[rank], errs[rank] = Run(t.Context(), cfg); errs[rank] == nil {
								return
							}
						}
					})
				}
				ranks.Wait()
				if lose && attempts[1] != 1 {
					t.Errorf("rank 1 has had %d attempts before the last one, want 1", attempts[1])
				}
				return reports, errs
			}
			_, errs := train(false, "whole")
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			reports, errs := train(true, "lost")
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			for rank, r := range reports {
				if r.Digest != reports[0].Digest || r.Passes != 6 {
					t.Errorf("rank %d: %d passes, model %x; want 6 and that of rank 0, %x", rank, r.Passes, r.Digest[:4], reports[0].Digest[:4])
				}
			}
			// Without synchrony the others may have made all passes before: then the replacement skips all of its examples.
			if n, others := reports[0].Stats.Examples, uint64(6*3000*3/4); n >= 6*3000 || n < others {
				t.Errorf("%d examples are counted, want fewer than %d by those of the lost attempt, at least %d of the others", n, 6*3000, others)
			}
			want := lossOf(t, &out, "whole", held)
			// Updates under way are dropped, and how many examples the replacement skips depends on timing where ranks do not
			// wait for each other.
			if got := lossOf(t, &out, "lost", held); math.Abs(got-want) > 0.05*want {
				t.Errorf("loss: got %.5f, want that without the loss of a rank, %.5f, within 5 %%", got, want)
			} else {
				t.Logf("loss %.5f, without the loss of a rank %.5f", got, want)
			}
		})
	}
}

// failsOn returns an input that cannot be opened for the n-th time, from 1.
func failsOn(in Input, n int) Input {
	open := in.Open
	in.Open = func(ctx context.Context) (io.ReadCloser, error) {
		if n--; n == 0 {
			return nil, hungError{errors.New("pulled the plug")}
		}
		return open(ctx)
	}
	return in
}

func TestAsynchronousTrainingRefuses(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Cluster.Join = nil }, "ranks of a job"},
		{func(c *Config) { c.Malt.Graph = "" }, "it is missing"},
		{func(c *Config) { c.Malt.Graph = "line" }, "Malt.Graph"},
		{func(c *Config) { c.Malt.Sync = "soon" }, "Malt.Sync"},
		{func(c *Config) { c.Malt.Send = "all" }, "Malt.Send"},
		{func(c *Config) { c.Malt.Every = -1 }, "Malt.Every"},
		{func(c *Config) { c.Outer.Momentum = 2 }, "Outer.Rate"},
		{func(c *Config) { c.Malt.Compress = "zip" }, "Malt.Compress"},
		{func(c *Config) { c.Malt.Compress = "q8" }, "adaptive or normalised"},
		{func(c *Config) { c.Cluster.Join.OnLoss = allreduce.Wait }, "comes after the last pass"},
		{func(c *Config) { c.Cluster.Join.OnLoss, c.Output.RawPredictions = allreduce.Wait, "r" }, "middle of a pass"},
		{func(c *Config) { c.Batch.BFGS, c.Passes = true, 3 }, "exact sums"},
		{func(c *Config) { c.Holdout.EarlyTerminate = 2 }, "all passes are made"},
	} {
		cfg := Config{
			Data: DataConfig{Inputs: []Input{textInput("d", "1 | a\n")}}, Loss: LossConfig{Function: "logistic"},
			Malt:    MaltConfig{Graph: "all", Sync: "bsp"},
			Cluster: ClusterConfig{Join: &allreduce.Config{Server: "s:1", Job: allreduce.Job{UniqueID: 1}, Total: 4}},
		}
		if c.change(&cfg); cfg.Validate() == nil || !strings.Contains(cfg.Validate().Error(), c.want) {
			t.Errorf("got %v, want %q", cfg.Validate(), c.want)
		}
	}
}
