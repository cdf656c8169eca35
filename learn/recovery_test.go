// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/internal/spantree/server"
	"github.com/gvw-project/gvw/learn/internal/trainer"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/option"
)

// disturbance is what happens to a rank in a step.
type disturbance struct {
	kind   string // see disturbances
	step   int    // from 0
	victim int
	source int
	busy   bool // the source is asked while it works, not after
	warm   bool // the new machine has done the work of the first step, as an attempt that was ready
}

// disturbances: Exchange is called again; a new machine replaces the victim's and reads the
// source's state; and it also reads the results of the step from the source, which its
// predecessor had from its exchange.
var disturbances = []string{"again", "replaced", "results"}

// rehearsal is a job in this process whose ranks are disturbed. A rank's machine is replaced
// only at points on which all ranks agree.
type rehearsal struct {
	t      *testing.T
	config func(rank int) Config                    // without a cluster
	commit func(rank int, m *trainer.Trainer) error // instead of Commit; nil: Commit
	plan   map[int]disturbance                      // by step

	began, exchanged map[int]chan *trainer.Trainer // the source's, in a step with a disturbance
	taken            map[int]chan struct{}
	last             [][]byte // the results of each rank in its last undisturbed step; nil: there are none
}

func newRehearsal(t *testing.T, config func(rank int) Config, plan ...disturbance) *rehearsal {
	h := &rehearsal{
		t: t, config: config, plan: map[int]disturbance{},
		began: map[int]chan *trainer.Trainer{}, exchanged: map[int]chan *trainer.Trainer{}, taken: map[int]chan struct{}{},
	}
	for _, d := range plan {
		h.plan[d.step] = d
		h.began[d.step], h.exchanged[d.step] = make(chan *trainer.Trainer, 1), make(chan *trainer.Trainer, 1)
		h.taken[d.step] = make(chan struct{})
	}
	return h
}

// run runs all ranks to their end.
func (h *rehearsal) run(ranks int) ([]*Report, []error) {
	h.t.Helper()
	network := mem.New()
	server, err := server.NewServer(server.ServerConfig{})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	l, err := network.Listen(ctx, "mem:0")
	if err != nil {
		h.t.Fatal(err)
	}
	var serving, running sync.WaitGroup
	serving.Go(func() { _ = server.Serve(ctx, l) })
	reports, errs := make([]*Report, ranks), make([]error, ranks)
	h.last = make([][]byte, ranks)
	for rank := range ranks {
		running.Go(func() {
			cluster := &allreduce.Config{
				Network: network, Server: l.Addr().String(), Job: allreduce.Job{UniqueID: 9},
				Rank: rank, Total: ranks, Listen: "mem:0",
			}
			reports[rank], errs[rank] = h.rank(h.t.Context(), rank, cluster)
		})
	}
	running.Wait()
	stop()
	if err := server.Close(); err != nil {
		h.t.Error(err)
	}
	serving.Wait()
	return reports, errs
}

// attempt is a rank's runner and machine.
type attempt struct {
	r *runner
	m *trainer.Trainer
}

// first joins the job. Later machines use the group of the first one.
func (h *rehearsal) attempt(ctx context.Context, rank int, cluster *allreduce.Config, g *allreduce.Group) (a attempt, err error) {
	c := h.config(rank)
	if g == nil {
		c.Cluster.Join = cluster
	}
	if a.r, err = joined(ctx, c); err != nil {
		return a, err
	}
	if g != nil {
		a.r.cfg.Cluster.Join, a.r.job.Group = cluster, g
	}
	if a.m, err = a.r.trainer(); err != nil {
		return a, err
	}
	a.m.Keep(len(h.plan) > 0)
	return a, nil
}

// rank runs one rank from its start to its end.
func (h *rehearsal) rank(ctx context.Context, rank int, cluster *allreduce.Config) (_ *Report, err error) {
	a, err := h.attempt(ctx, rank, cluster, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.r.close()) }()
	g := a.r.job.Group
	for step := 0; ; step++ {
		if _, more := a.m.Next(); !more {
			break
		}
		d, disturbed := h.plan[step]
		disturbed = disturbed && d.kind != "again"
		if disturbed {
			h.last[rank] = nil
		}
		switch {
		case disturbed && rank == d.victim:
			a, err = h.replace(ctx, d, a, cluster)
		case disturbed && rank == d.source:
			err = h.serve(ctx, d, a)
		default:
			err = h.step(ctx, a, g, h.plan[step].kind == "again")
		}
		switch {
		case err != nil:
		case h.commit != nil:
			err = h.commit(rank, a.m)
		default:
			err = a.m.Commit()
		}
		if err != nil {
			g.Fail(ctx, err)
			return nil, fmt.Errorf("step %d: %w", step, err)
		}
		if disturbed && rank == d.source {
			<-h.taken[step] // no exchange begins while results are asked for
		}
	}
	if err := a.r.finish(a.m.Stage()); err != nil {
		return nil, err
	}
	return a.r.end(ctx)
}

// step runs one step of an undisturbed rank, perhaps with a second exchange. It checks that
// the state stays unchanged until the commit, and the results after it.
func (h *rehearsal) step(ctx context.Context, a attempt, g *allreduce.Group, again bool) error {
	keeps := a.r.job.Keep
	before := bytesOf(keeps, a.m.WriteState)
	if keeps && known(a.m) {
		h.results(a, "before Work")
	}
	if err := a.m.Work(ctx); err != nil {
		return err
	}
	if keeps && known(a.m) {
		h.results(a, "after Work")
	}
	if err := a.m.Exchange(ctx, g); err != nil {
		return err
	}
	results := bytesOf(keeps, a.m.WriteResults)
	if again {
		if err := a.m.Exchange(ctx, g); err != nil {
			return err
		}
		if now := bytesOf(keeps, a.m.WriteResults); !bytes.Equal(results, now) {
			return errors.New("another exchange of the same contributions had other results")
		}
	}
	if now := bytesOf(keeps, a.m.WriteState); !bytes.Equal(before, now) {
		return errors.New("the state was changed before the commit")
	}
	h.last[a.r.job.Rank] = results
	return nil
}

// known reports whether a machine has results of its last step.
func known(m *trainer.Trainer) bool {
	return !errors.Is(m.WriteResults(io.Discard), allreduce.ErrNoResults)
}

// results checks that the results of the last step have not changed.
func (h *rehearsal) results(a attempt, when string) {
	if was := h.last[a.r.job.Rank]; was != nil && !bytes.Equal(was, bytesOf(true, a.m.WriteResults)) {
		h.t.Errorf("%s of a step the results of the step before are others", when)
	}
}

// bytesOf returns what write writes, for a machine that keeps its state.
func bytesOf(keeps bool, write func(io.Writer) error) []byte {
	var b bytes.Buffer
	if keeps {
		_ = write(&b) // a machine that has none writes nothing
	}
	return b.Bytes()
}

// serve runs one step of the rank whose state is read.
func (h *rehearsal) serve(ctx context.Context, d disturbance, a attempt) error {
	if d.busy {
		h.began[d.step] <- a.m
	}
	if err := a.m.Work(ctx); err != nil {
		return err
	}
	if !d.busy {
		h.began[d.step] <- a.m
	}
	if err := a.m.Exchange(ctx, a.r.job.Group); err != nil {
		return err
	}
	h.exchanged[d.step] <- a.m
	return nil
}

// replace replaces the victim's machine, which has done all of the step except its commit.
func (h *rehearsal) replace(ctx context.Context, d disturbance, old attempt, cluster *allreduce.Config) (a attempt, err error) {
	defer close(h.taken[d.step])
	g := old.r.job.Group
	if a, err = h.attempt(ctx, d.victim, cluster, g); err != nil {
		return a, err
	}
	if d.warm {
		if err := a.m.Work(ctx); err != nil {
			return a, err
		}
	}
	if err := carry(<-write(ctx, h.began[d.step], (*trainer.Trainer).WriteState), a.m.ReadState); err != nil {
		return a, err
	}
	if err := a.m.Work(ctx); err != nil {
		return a, err
	}
	if d.kind == "replaced" {
		return a, a.m.Exchange(ctx, g)
	}
	if err := old.m.Work(ctx); err != nil {
		return a, err
	}
	if err := old.m.Exchange(ctx, g); err != nil {
		return a, err
	}
	return a, carry(<-write(ctx, h.exchanged[d.step], (*trainer.Trainer).WriteResults), a.m.ReadResults)
}

// written is the output of a machine.
type written struct {
	b   []byte
	err error
}

// write makes the machine from the channel write, in another goroutine than its own.
func write(ctx context.Context, from <-chan *trainer.Trainer, what func(*trainer.Trainer, io.Writer) error) <-chan written {
	out := make(chan written, 1)
	go func() {
		select {
		case m := <-from:
			var b bytes.Buffer
			err := what(m, &b)
			out <- written{b.Bytes(), err}
		case <-ctx.Done():
			out <- written{nil, ctx.Err()}
		}
	}()
	return out
}

func carry(w written, read func(io.Reader) error) error {
	if w.err != nil {
		return w.err
	}
	r := bytes.NewReader(w.b)
	if err := read(r); err != nil {
		return err
	}
	if r.Len() > 0 {
		return fmt.Errorf("%d of %d bytes were not read", r.Len(), len(w.b))
	}
	return nil
}

// method is a way to train, with its outputs besides the model.
type method struct {
	name   string
	change func(*Config)
}

var recovered = []method{
	{"default rule", func(c *Config) { c.Passes = 4 }},
	{"resume", func(c *Config) { c.Passes, c.Model.PredictOnly = 4, false }},
	{"one pass", func(c *Config) { c.Passes = 1 }},
	{"plain", func(c *Config) { c.Passes, c.SGD.Plain, c.SGD.DecayLearningRate = 3, true, 0.5 }},
	{"adaptive, l1, l2", func(c *Config) { c.Passes, c.SGD.Adaptive, c.Reg.L1, c.Reg.L2 = 4, true, 1e-6, 1e-3 }},
	{"normalized", func(c *Config) { c.Passes, c.SGD.Normalized = 3, true }},
	{"normalized, sparse l2", func(c *Config) { c.Passes, c.SGD.Normalized, c.Reg.SparseL2, c.Loss.Function = 3, true, 1e-3, "hinge" }},
	{"invariant", func(c *Config) { c.Passes, c.SGD.Invariant, c.Loss.Function = 3, true, "squared" }},
	{"adax, power_t", func(c *Config) {
		c.Passes, c.SGD.Adaptive, c.SGD.Adax, c.SGD.PowerT = 3, true, true, option.Some[float32](0.3)
	}},
	{"holdout, early stop", func(c *Config) {
		c.Passes, c.Holdout.Off, c.Holdout.EarlyTerminate, c.SGD.LearningRate = 12, false, 2, option.Some[float32](8)
	}},
	{"shuffle, metrics", func(c *Config) {
		c.Passes, c.Data.Shuffle, c.Data.ShuffleSeed, c.Metrics.Measures, c.Holdout.Off = 4, true, 7, []string{"auc", "logloss", "calibration"}, false
	}},
	{"validation", func(c *Config) {
		c.Passes, c.Holdout.Valid, c.Holdout.EarlyTerminate, c.SGD.LearningRate = 10, []Input{textInput("valid", randomText(50))}, 2, option.Some[float32](8)
	}},
	{"classes", func(c *Config) { c.OAA.Classes, c.Passes, c.OAA.Indexing = 3, 4, option.Some(0) }},
	{"sampled classes", func(c *Config) {
		c.OAA.Classes, c.OAA.Subsample, c.Passes, c.Holdout.Off, c.OAA.Probabilities, c.OAA.Indexing = 5, 2, 4, false, true, option.Some(0)
	}},
	// These change so little of their tables that the changes are recorded instead of a copy.
	{"large table, holdout", func(c *Config) { c.Features.Bits, c.Passes, c.Holdout.Off = 15, 5, false }},
	{"large table, classes", func(c *Config) {
		c.Features.Bits, c.OAA.Classes, c.Passes, c.OAA.Indexing = 16, 3, 4, option.Some(0)
	}},
	{"topics", func(c *Config) {
		c.Passes, c.LDA.Topics, c.LDA.Batch, c.SGD.InitialT = 4, 3, 16, option.Some[float32](1)
	}},
	{"topics, validation", func(c *Config) {
		c.Passes, c.LDA.Topics, c.LDA.Batch, c.LDA.LearnAlpha = 12, 3, 16, true
		c.Holdout.Valid, c.Holdout.EarlyTerminate = []Input{textInput("valid", strings.Repeat("|f w1:3 w2 w7:2\n|f w3:2 w9:4 w1\n", 20))}, 1
	}},
	{"test", func(c *Config) { c.TestOnly, c.Output.Predictions = true, "p" }},
	{"l-bfgs", func(c *Config) {
		c.Batch.BFGS, c.Passes, c.Reg.L2, c.Batch.Mem = true, 12, 1, option.Some(3)
	}},
	{"l-bfgs, holdout", func(c *Config) {
		c.Batch.BFGS, c.Passes, c.Reg.L2, c.Holdout.Off, c.Holdout.EarlyTerminate = true, 20, 1e-3, false, 2
	}},
	{"l-bfgs, validation", func(c *Config) {
		c.Batch.BFGS, c.Passes, c.Reg.L2, c.Holdout.Valid = true, 15, 1e-3, []Input{textInput("valid", randomText(50))}
	}},
	{"l-bfgs, hessian on, regularisers", func(c *Config) {
		c.Batch.BFGS, c.Passes, c.Reg.L2, c.Batch.HessianOn, c.Reg.Output = true, 9, 1, true, "regularisers"
	}},
	{"l-bfgs of vw 9, regularisers", func(c *Config) {
		c.Batch.BFGS, c.Batch.Semantics, c.Passes, c.Reg.L2 = true, optim.VW9, 40, 1
		c.Reg.Output, c.Reg.OutputText = "regularisers", "text"
	}},
	{"conjugate gradients", func(c *Config) {
		c.Batch.BFGS, c.Batch.ConjugateGradient, c.Batch.Mem, c.Passes, c.Reg.L2 = true, true, option.Some(0), 12, 1
	}},
	{"newton", func(c *Config) { c.Batch.BFGS, c.Batch.Solver, c.Passes, c.Reg.L2 = true, "newton", 14, 1 }},
	{"newton, sample, squared", func(c *Config) {
		c.Batch.BFGS, c.Batch.Solver, c.Batch.HessianSample, c.Passes, c.Reg.L2, c.Loss.Function = true, "newton", 0.3, 14, 1, "squared"
		c.Loss.Link, c.Reg.Output = "identity", "regularisers"
	}},
	{"giant", func(c *Config) { c.Batch.BFGS, c.Batch.Solver, c.Passes, c.Reg.L2 = true, "giant", 10, 1 }},
	{"giant, sample, holdout", func(c *Config) {
		c.Batch.BFGS, c.Batch.Solver, c.Batch.HessianSample, c.Passes, c.Reg.L2, c.Holdout.Off = true, "giant", 0.5, 10, 1, false
	}},
	{"hybrid, newton, sample", func(c *Config) {
		c.Hybrid, c.Reg.L2, c.Batch.Solver, c.Batch.HessianSample = &Hybrid{SGDPasses: 2, LBFGSPasses: 12}, 1, "newton", 0.3
	}},
	{"hybrid", func(c *Config) { c.Hybrid, c.Reg.L2 = &Hybrid{SGDPasses: 2, LBFGSPasses: 9}, 1 }},
	{"hybrid, plain, holdout", func(c *Config) {
		c.Hybrid, c.SGD.Plain, c.Reg.L2, c.Holdout.Off, c.Holdout.Period = &Hybrid{SGDPasses: 3, LBFGSPasses: 9}, true, 1, false, 10
	}},
}

// rehearse trains by a method, disturbed or not.
func rehearse(t *testing.T, m method, ranks int, plan ...disturbance) (map[string][]byte, *Report) {
	t.Helper()
	out, reports, errs := tryRehearsal(t, m, ranks, plan...)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return out, reports[0]
}

func tryRehearsal(t *testing.T, m method, ranks int, plan ...disturbance) (map[string][]byte, []*Report, []error) {
	t.Helper()
	parts := deal(randomText(120*ranks), ranks)
	var out files
	h := newRehearsal(t, func(rank int) Config {
		c := Config{
			Data:     DataConfig{Inputs: []Input{textInput(fmt.Sprintf("part %d", rank), parts[rank])}},
			Features: FeatureConfig{Bits: 8},
			Loss:     LossConfig{Function: "logistic"},
			Holdout:  HoldoutConfig{Off: true},
			Model:    ModelConfig{PredictOnly: true},
			Output:   OutputConfig{Create: func(name string) (Output, error) { return out.create(fmt.Sprintf("%s %d", name, rank)) }},
		}
		c.Model.Final = "m"
		m.change(&c)
		return c
	}, plan...)
	reports, errs := h.run(ranks)
	return out.m, reports, errs
}

// Whatever happens to a rank in a step, and however often, the job ends with the bytes of the
// fault-free run, which keeps no state.
func TestDisturbedJobsEndAlike(t *testing.T) {
	const ranks = 3
	for i, m := range sampled.Race(t, sampled.Short(t, recovered, 0, 3), 0, 3) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			want, report := rehearse(t, m, ranks)
			random := rand.New(rand.NewPCG(uint64(i), 3))
			rounds := 6
			if testing.Short() {
				rounds = 1
				t.Log("sampled: 1 round of 6")
			}
			for range rounds {
				var plan []disturbance
				for range 1 + random.IntN(3) {
					victim := random.IntN(ranks)
					plan = append(plan, disturbance{
						kind: disturbances[random.IntN(len(disturbances))], step: random.IntN(report.Passes),
						victim: victim, source: (victim + 1 + random.IntN(ranks-1)) % ranks,
						busy: random.IntN(2) == 0, warm: random.IntN(2) == 0,
					})
				}
				got, again := rehearse(t, m, ranks, plan...)
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

// A replacement writes the predictions of the first pass, which it has made before it was
// ready, and of the passes after it joined. If a pass lies between, it refuses to run, since
// its file would be incomplete.
func TestPredictionsOfAReplacedRank(t *testing.T) {
	m := method{"predictions", func(c *Config) { c.Passes, c.Output.Predictions, c.Output.RawPredictions = 3, "p", "r" }}
	want, _ := rehearse(t, m, 2)
	for _, kind := range []string{"replaced", "results"} {
		for at := range 2 {
			got, _ := rehearse(t, m, 2, disturbance{kind: kind, step: at, victim: 1, warm: true})
			if diff := diffFiles(want, got); diff != "" {
				t.Errorf("%s in step %d: the files differ: %s", kind, at, diff[:min(len(diff), 300)])
			}
		}
		out, _, errs := tryRehearsal(t, m, 2, disturbance{kind: kind, step: 2, victim: 1, warm: true})
		if err := errs[1]; err == nil || !strings.Contains(err.Error(), "2 passes are done, and this process has the predictions of 1") {
			t.Errorf("%s in the last step: got %v, want a refusal", kind, err)
		}
		if len(out) > 0 {
			t.Errorf("%s in the last step: %d files were written", kind, len(out))
		}
	}
}

// The choice of a solver belongs to the state: ranks that are replaced at any step after it end
// with the model of the others, which the server compares.
func TestReplacementsAdoptTheChosenSolver(t *testing.T) {
	auto := method{"auto", func(c *Config) { c.Batch.BFGS, c.Batch.Solver, c.Passes, c.Reg.L2 = true, "auto", 12, 1 }}
	for _, kind := range []string{"replaced", "results"} {
		for step := 1; step <= 4; step++ {
			if _, _, errs := tryRehearsal(t, auto, 3, disturbance{kind: kind, step: step, victim: 1}); errors.Join(errs...) != nil {
				t.Errorf("%s at step %d: %v", kind, step, errs)
			}
		}
	}
}
