// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/internal/spantree/server"
	"github.com/gvw-project/gvw/learn/internal/sgdstage"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/option"
)

// shrinking is a job of three ranks that continues without some of them.
type shrinking struct {
	at     int   // the step, from 0, that the lost ranks do not complete
	worked bool  // the others have done its work when the loss is reported
	missed bool  // they have also exchanged it, and the exchange was void
	left   []int // the others

	passes *int // set to the passes that all three have completed; nil: not of interest
}

func (s shrinking) String() string {
	return fmt.Sprintf("step %d, worked %t, missed %t, left %v", s.at, s.worked, s.missed, s.left)
}

var left = []int{0, 2}

// errOverBefore reports that the job ended before a rank could be lost.
var errOverBefore = errors.New("the job of three has ended")

// shrunk runs the job and returns the files and reports of the ranks that are left.
func shrunk(t *testing.T, m method, s shrinking) (map[string][]byte, []*Report) {
	t.Helper()
	parts := deal(randomText(360), 3)
	var out files
	network := mem.New()
	server, err := server.NewServer(server.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	l, err := network.Listen(ctx, "mem:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving, running sync.WaitGroup
	serving.Go(func() { _ = server.Serve(ctx, l) })
	reports, errs := make([]*Report, 3), make([]error, 3)
	done := make(chan struct{}) // closed when the lost ranks may go
	var others sync.WaitGroup
	others.Add(len(s.left))
	for rank := range 3 {
		cluster := func(id uint64, rank, total int) *allreduce.Config {
			return &allreduce.Config{
				Network: network, Server: l.Addr().String(), Job: allreduce.Job{UniqueID: id},
				Rank: rank, Total: total, Listen: "mem:0",
			}
		}
		running.Go(func() {
			if slices.Contains(s.left, rank) {
				defer others.Done()
			}
			c := methodConfig(m, fmt.Sprint(rank), parts[rank], &out)
			c.Cluster.Join = cluster(9, rank, 3)
			reports[rank], errs[rank] = s.rank(t.Context(), c, cluster(10, max(0, slices.Index(s.left, rank)), len(s.left)), done)
		})
	}
	others.Wait()
	close(done)
	running.Wait()
	stop()
	serving.Wait()
	err = errors.Join(append(errs, server.Close())...)
	if errors.Is(err, errOverBefore) {
		return nil, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.m, slices.DeleteFunc(reports, func(r *Report) bool { return r == nil })
}

func methodConfig(m method, name, part string, out *files) Config {
	c := Config{
		Data:     DataConfig{Inputs: []Input{textInput(name, part)}},
		Features: FeatureConfig{Bits: 8},
		Loss:     LossConfig{Function: "logistic"},
		Holdout:  HoldoutConfig{Off: true},
		Model:    ModelConfig{PredictOnly: true, Final: "m" + name},
		Output:   OutputConfig{Create: out.create},
	}
	m.change(&c)
	return c
}

func (s shrinking) rank(ctx context.Context, c Config, smaller *allreduce.Config, done <-chan struct{}) (_ *Report, err error) {
	r, err := joined(ctx, c)
	if err != nil {
		return nil, err
	}
	whole := r.job.Group
	defer func() {
		if !slices.Contains(s.left, whole.Rank()) {
			err = nil // those that are left may have closed the job of three before
			<-done
		}
		_ = whole.Close() // the job of three is not at its end
	}()
	m, err := r.trainer()
	if err != nil {
		return nil, err
	}
	m.Keep(true)
	for range s.at {
		if err := errors.Join(m.Work(ctx), m.Exchange(ctx, whole), m.Commit()); err != nil {
			return nil, err
		}
	}
	if _, more := m.Next(); !more {
		return nil, errOverBefore
	}
	if s.passes != nil && whole.Rank() == s.left[0] {
		*s.passes = r.tally.Passes
	}
	if s.worked || s.missed {
		if err := m.Work(ctx); err != nil {
			return nil, err
		}
	}
	if s.missed {
		if err := m.Exchange(ctx, whole); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(s.left, whole.Rank()) {
		return nil, nil
	}
	smaller.Options = r.cfg.options(r.rule)
	if r.job.Group, err = allreduce.Join(ctx, *smaller); err != nil {
		return nil, err
	}
	r.job.Wired = false
	defer func() { err = errors.Join(err, r.close()) }()
	if err := errors.Join(m.Shrink(s.left), m.Shrink(s.left)); err != nil { // the second call must change nothing
		return nil, err
	}
	for worked := s.worked || s.missed; ; worked = false {
		if _, more := m.Next(); !more {
			break
		}
		if !worked {
			err = m.Work(ctx)
		}
		if err = errors.Join(err, m.Exchange(ctx, r.job.Group)); err == nil {
			err = m.Commit()
		}
		if err != nil {
			return nil, err
		}
	}
	if err := r.finish(m.Stage()); err != nil {
		return nil, err
	}
	return r.end(ctx)
}

// A job continues without a rank. The progress of the others in the step does not matter: they
// end with the same bytes, and their reports include the completed passes of the lost rank. If
// no step was completed, the job equals one without that rank.
func TestJobContinuesWithoutARank(t *testing.T) {
	parts := deal(randomText(360), 3)
	for _, m := range sampled.Race(t, sampled.Short(t, recovered, 1, 6), 0, 3) {
		if m.name == "shuffle, metrics" || m.name == "test" { // the order goes by rank; a test ends after a step
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			var out files
			reports, errs := runRanks(t, []string{parts[0], parts[2]}, func(rank int, c *Config) {
				cluster := c.Cluster.Join
				*c = methodConfig(m, fmt.Sprint(left[rank]), parts[left[rank]], &out)
				c.Cluster.Join = cluster
			})
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			ignore := cmpopts.IgnoreFields(Report{}, "Loss", "Shard")
			got, alike := shrunk(t, m, shrinking{at: 0, worked: true, left: left})
			if diff := diffFiles(out.m, got); diff != "" {
				t.Errorf("without a step: the files differ from those of a job of two: %s", diff[:min(len(diff), 300)])
			}
			if diff := cmp.Diff(reports, alike, cmpopts.EquateNaNs(), ignore); diff != "" {
				t.Errorf("without a step: the reports differ from those of a job of two: %s", diff)
			}
			steps := min(reports[0].Passes, 4)
			if testing.Short() {
				steps = min(steps, 2)
				t.Log("sampled: one step")
			}
			for at := 1; at < steps; at++ {
				var first map[string][]byte
				for _, s := range []shrinking{{at: at, left: left}, {at: at, worked: true, left: left}, {at: at, worked: true, missed: true, left: left}} {
					var passes int
					s.passes = &passes
					got, reports := shrunk(t, m, s)
					if reports == nil {
						continue
					}
					if first == nil {
						first = got
					}
					if diff := diffFiles(first, got); diff != "" {
						t.Errorf("%v: the files differ from those where no work was done: %s", s, diff[:min(len(diff), 300)])
					}
					if !bytes.Equal(got["m0"], got["m2"]) || len(got["m0"]) == 0 {
						t.Errorf("%v: the ranks disagree", s)
					}
					// Held-out examples are not counted, and a shard has 120. Not each step is a pass.
					if want := uint64(120*2*reports[0].Passes + 120*passes); !reports[0].Holdout && reports[0].Stats.Examples != want {
						t.Errorf("%v: %d examples in %d passes, want %d", s, reports[0].Stats.Examples, reports[0].Passes, want)
					}
				}
			}
		})
	}
}

// The last remaining rank continues as a rank. If no step was completed, its weights are those
// of one process with its data.
func TestLastRankContinues(t *testing.T) {
	parts := deal(randomText(360), 3)
	for _, m := range sampled.Race(t, sampled.Short(t, recovered, 4, 6), 1, 3) {
		if m.name == "shuffle, metrics" || m.name == "test" {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			var out files
			if _, err := Run(t.Context(), methodConfig(m, "single", parts[0], &out)); err != nil {
				t.Fatal(err)
			}
			for at := range 3 {
				var first []byte
				for _, s := range []shrinking{{at: at, left: left[:1]}, {at: at, worked: true, left: left[:1]}, {at: at, worked: true, missed: true, left: left[:1]}} {
					got, reports := shrunk(t, m, s)
					if reports == nil {
						continue
					}
					if first == nil {
						first = got["m0"]
					}
					if !bytes.Equal(got["m0"], first) || len(first) == 0 {
						t.Errorf("%v: the model differs from that where no work was done", s)
					}
					// One process keeps the regularisation that is due for its next pass; the
					// exchange of a rank applies it.
					if at > 0 || m.name == "normalized, sparse l2" {
						continue
					}
					if want, got := weightsOf(t, out.m["msingle"]), weightsOf(t, first); !slices.Equal(want, got) {
						t.Errorf("%v: other weights than a single process: %.300s", s, cmp.Diff(want, got))
					}
				}
			}
		})
	}
}

// Batch solvers that start again reach the optimum over the remaining examples.
func TestRestartedSolversReachTheOptimum(t *testing.T) {
	parts := deal(randomText(360), 3)
	for _, b := range []BatchConfig{
		{Mem: option.Some(0)}, {Mem: option.Some(5)}, {Solver: "newton"}, {Solver: "newton", HessianSample: 0.5}, {Solver: "giant"},
	} {
		m := method{"", func(c *Config) {
			c.Batch, c.Passes, c.Reg.L2 = b, 60, 3
			c.Batch.BFGS, c.Batch.Termination = true, option.Some[float64](0)
		}}
		var out files
		c := methodConfig(m, "whole", parts[0]+parts[2], &out)
		if _, err := Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		got, _ := shrunk(t, m, shrinking{at: 5, worked: true, left: left})
		want, rest := weightsOf(t, out.m["mwhole"]), weightsOf(t, got["m0"])
		for i := range want {
			if math.Abs(float64(want[i]-rest[i])) > 2e-3 {
				t.Errorf("%+v: weight %d is %v, at the optimum %v", b, i, rest[i], want[i])
			}
		}
	}
}

func weightsOf(t *testing.T, file []byte) []float32 {
	t.Helper()
	if topics, err := model.ReadTopics(bytes.NewReader(file), model.Limits{Bits: 16}); err == nil {
		return topics.Weights
	}
	reg, err := model.Read(bytes.NewReader(file), model.Limits{Bits: 16})
	if err != nil {
		t.Fatal(err)
	}
	return reg.Weights.Data
}

// The best weights and losses with all ranks do not count for the remaining ranks.
func TestBestPassIsForgotten(t *testing.T) {
	r, m := local(t, small(func(c *Config) { c.Holdout.Off, c.Holdout.Period = false, 3 }))
	step(t, r, m)
	sgd := m.Stage().(*sgdstage.Online)
	if !r.tally.Stop.Known || sgd.Best == nil {
		t.Fatal("a pass with held-out examples has left nothing that is best")
	}
	r.job.Keep = true
	if err := m.Shrink([]int{0}); err != nil {
		t.Fatal(err)
	}
	if r.tally.Stop.Known || r.tally.Stop.Begun || sgd.Best != nil {
		t.Errorf("after a loss: holdout %+v, %d best weights", r.tally.Stop, len(sgd.Best))
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}
