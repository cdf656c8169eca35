// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
)

// elastic is the network of elastic jobs in a bubble, whose clock stands still while a rank works:
// on a busy machine, too, ranks join in time.
type elastic struct{ *mem.Network }

func newElastic() elastic { return elastic{mem.New()} }

// serve starts a server, and returns its address.
func (n elastic) serve(t *testing.T, host string) string {
	t.Helper()
	l, err := n.Host(host).Listen(t.Context(), ":26543")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l)
}

// job returns the configuration of a rank in an elastic job of three.
func (n elastic) job(server string, place RunDir, out *files, rank int, part string) Config {
	return Config{
		Data:     DataConfig{Inputs: []Input{textInput(fmt.Sprintf("part %d", rank), part)}},
		Features: FeatureConfig{Bits: 10},
		Loss:     LossConfig{Function: "logistic"},
		Holdout:  HoldoutConfig{Off: true},
		Reg:      RegConfig{L2: 1},
		Hybrid:   &Hybrid{SGDPasses: 2, LBFGSPasses: 6},
		Model:    ModelConfig{Final: fmt.Sprint("m", rank)},
		Output:   OutputConfig{Create: out.create},
		Cluster: ClusterConfig{
			RunDir:       place,
			SingleWriter: true,
			Join: &allreduce.Config{
				Server: server, Job: allreduce.Job{UniqueID: 9, RunKey: "run"}, Rank: rank, Total: 3,
				Network: n.Host(fmt.Sprint("h", rank)), Host: fmt.Sprint("h", rank), OnLoss: allreduce.Wait, Elastic: true, StartTimeout: time.Minute,
			},
		},
	}
}

// A job that starts without a rank has the model of a job of the other ranks. One of them
// delivers it. A late rank 0 copies it without any work, and other late ranks leave at once.
func TestJobWithoutRanksThatDoNotCome(t *testing.T) {
	parts := deal(randomText(300), 3)
	for missing := range 3 {
		t.Run(fmt.Sprint("rank ", missing), func(t *testing.T) {
			t.Parallel()
			came := slices.DeleteFunc([]int{0, 1, 2}, func(r int) bool { return r == missing })
			var want files
			_, errs := runRanks(t, []string{parts[came[0]], parts[came[1]]}, func(rank int, c *Config) {
				c.Hybrid, c.Reg.L2 = &Hybrid{SGDPasses: 2, LBFGSPasses: 6}, 1
				c.Output.Create, c.Model.Final = want.create, fmt.Sprint("m", came[rank])
			})
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				jobWithout(t, parts, came, want.m[fmt.Sprint("m", came[0])])
			})
		})
	}
}

// jobWithout runs an elastic job of some ranks, which must deliver a model, and then late ranks.
func jobWithout(t *testing.T, parts []string, came []int, want []byte) {
	n := newElastic()
	server := n.serve(t, "server")
	var got files
	place := &memDir{from: &got}
	both := make([]error, 3)
	var ranks sync.WaitGroup
	for _, r := range came {
		ranks.Go(func() { _, both[r] = Run(t.Context(), n.job(server, place, &got, r, parts[r])) })
	}
	ranks.Wait()
	if err := errors.Join(both...); err != nil {
		t.Fatal(err)
	}
	first := fmt.Sprint("m", came[0])
	if len(got.m) != 1 || !bytes.Equal(got.m[first], want) {
		t.Errorf("%d files; the model of rank %d has %d bytes, that of a job of %v %d", len(got.m), came[0], len(got.m[first]), came, len(want))
	}
	// The run has finished. Either the server knows it, or only the run directory does.
	for _, at := range []string{server, n.serve(t, "another")} {
		for r := range 3 {
			var late files
			report, err := Run(t.Context(), n.job(at, place, &late, r, parts[r]))
			_, finished := errors.AsType[*allreduce.FinishedError](err)
			_, needless := errors.AsType[*allreduce.ExcludedError](err) // rank 0 was there before it
			if !finished && (r == 0 || !needless) || report != nil {
				t.Errorf("rank %d comes late, and ends with %v", r, err)
			}
			if r == 0 != bytes.Equal(late.m["m0"], want) || r > 0 && len(late.m) > 0 {
				t.Errorf("rank %d comes late, and leaves %d files", r, len(late.m))
			}
		}
	}
}

// A rank that joins while the others train leaves at once. Rank 0, which owes the model, waits
// for the end.
func TestLateRanksOfARunningJob(t *testing.T) {
	parts := deal(randomText(90), 3)
	for late := range 2 {
		synctest.Test(t, func(t *testing.T) { lateRank(t, parts, late) })
	}
}

func lateRank(t *testing.T, parts []string, late int) {
	n := newElastic()
	server := n.serve(t, "server")
	var out files
	place := &memDir{from: &out}
	here, gone := make(chan struct{}), make(chan struct{})
	var ranks sync.WaitGroup
	errs := make([]error, 3)
	for r := range 3 {
		if r == late {
			continue
		}
		ranks.Go(func() {
			c := n.job(server, place, &out, r, parts[r])
			var once sync.Once
			c.Diagnostics.Watch = func(p Progress) {
				if p.Pass == 2 { // so the job has started
					once.Do(func() {
						if r == 2 {
							close(here)
						}
						<-gone
					})
				}
			}
			_, errs[r] = Run(t.Context(), c)
			if r == 2 {
				once.Do(func() { close(here) }) // the job has not started with it
			}
		})
	}
	<-here
	done := make(chan error, 1)
	go func() {
		_, err := Run(t.Context(), n.job(server, place, &out, late, parts[late]))
		done <- err
	}()
	if late > 0 {
		if _, ok := errors.AsType[*allreduce.ExcludedError](<-done); !ok {
			t.Errorf("rank %d came late, and has not left", late)
		}
		close(gone)
	} else {
		time.Sleep(time.Minute)
		select {
		case err := <-done:
			t.Errorf("rank 0 has left before the end: %v", err)
			done <- err
		default:
		}
		close(gone)
		if _, ok := errors.AsType[*allreduce.FinishedError](<-done); !ok {
			t.Error("rank 0 came late, and has not waited for the model")
		}
	}
	ranks.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	want := 1
	if late == 0 {
		want = 2
	}
	if len(out.m) != want || late == 0 && !bytes.Equal(out.m["m0"], out.m["m1"]) {
		t.Errorf("without rank %d: %d files, want %d of the same bytes", late, len(out.m), want)
	}
}
