// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/monitor/events"
)

// round makes the three collectives of a step, other than the one that is left out.
func round(g *Group, leaveOut string) error {
	v := make([]float32, 100)
	for _, name := range []string{"gradient", "weights", "losses"} {
		if name == leaveOut {
			continue
		}
		if err := g.AllReduce(ctx, Vec(v).Named(name), Sum); err != nil {
			return err
		}
	}
	return nil
}

// rounds makes some steps.
func rounds(g *Group, n int) error {
	for range n {
		if err := round(g, ""); err != nil {
			return err
		}
	}
	return nil
}

// dataFault is an error with a class of its own.
type dataFault struct{ class events.Class }

func (e dataFault) Error() string            { return "part.3: line 17" }
func (e dataFault) FaultClass() events.Class { return e.class }

// injected is a fault and the cause that the error of another rank must name.
type injected struct {
	name   string
	cfg    Config
	play   func(j *testJob, n *mem.Network, rank int) error // what each rank does
	within time.Duration                                    // from the fault until a time-out detects it
	want   string
}

// gives returns a fault in which rank 3 gives up because of an error after two steps.
func gives(name string, err error, want string) injected {
	return injected{name: name, want: want, play: func(j *testJob, _ *mem.Network, rank int) error {
		if rank == 3 {
			if err := rounds(j.groups[rank], 2); err != nil {
				return err
			}
			j.groups[rank].Fail(ctx, err)
			return err
		}
		return rounds(j.groups[rank], 1000)
	}}
}

// breaks returns a fault that a rank injects after two steps, while all ranks work.
func breaks(name string, within time.Duration, inject func(n *mem.Network), want string) injected {
	return injected{name: name, within: within, want: want, cfg: Config{Stall: 10 * time.Second}, play: func(j *testJob, n *mem.Network, rank int) error {
		if err := rounds(j.groups[rank], 2); err != nil {
			return err
		}
		if rank == 3 {
			inject(n)
		}
		for {
			time.Sleep(100 * time.Millisecond)
			if err := round(j.groups[rank], ""); err != nil {
				return err
			}
		}
	}}
}

// calls returns a fault in which rank 3 makes another call after two steps.
func calls(name string, call func(g *Group) error, want string) injected {
	return injected{name: name, want: want, play: func(j *testJob, _ *mem.Network, rank int) error {
		g := j.groups[rank]
		if err := rounds(g, 2); err != nil || rank != 3 {
			return errors.Join(err, rounds(g, 2))
		}
		return call(g)
	}}
}

var injectedFaults = []injected{
	calls("skipped collective", func(g *Group) error { return round(g, "weights") }, "rank 3 (h3) skipped all-reduce 8 (weights)"),
	calls("skipped first of a step", func(g *Group) error { return round(g, "gradient") }, "rank 3 (h3) skipped all-reduce 7 (gradient)"),
	calls("wrong length", func(g *Group) error {
		return g.AllReduce(ctx, Vec(make([]float32, 99)).Named("gradient"), Sum)
	}, "rank 3 (h3) called all-reduce 7 with another length: 99 elements, the others 100 elements"),
	calls("wrong order", func(g *Group) error {
		return g.AllReduce(ctx, Vec(make([]float32, 100)).Named("losses"), Sum)
	}, "rank 3 (h3) called all-reduce (losses) of 100 elements where the others called all-reduce 7 (gradient): it calls collectives out of order"),
	calls("another collective", func(g *Group) error { return g.Barrier(ctx) }, "rank 3 (h3) called barrier where the others called all-reduce 7 (gradient)"),
	calls("another name", func(g *Group) error {
		return g.AllReduce(ctx, Vec(make([]float32, 100)).Named("hessian"), Sum)
	}, "rank 3 (h3) called all-reduce (hessian) of 100 elements where the others called all-reduce 7 (gradient)"),

	gives("disk full", fmt.Errorf("model.tmp: %w", syscall.ENOSPC), "rank 3 (h3) has a full disk: model.tmp: no space left on device"),
	gives("read-only", fmt.Errorf("model.tmp: %w", syscall.EROFS), "rank 3 (h3) writes to a read-only file system"),
	gives("missing file", fmt.Errorf("part.3: %w", syscall.ENOENT), "rank 3 (h3) misses a file: part.3"),
	gives("permission", fmt.Errorf("part.3: %w", syscall.EACCES), "rank 3 (h3) has no permission for a file: part.3"),
	gives("failing disk", fmt.Errorf("part.3: %w", syscall.EIO), "rank 3 (h3) has a failing disk: part.3"),
	gives("memory", fmt.Errorf("mmap: %w", syscall.ENOMEM), "rank 3 (h3) has no memory left"),
	gives("descriptors", fmt.Errorf("accept: %w", syscall.EMFILE), "rank 3 (h3) has no file descriptor left"),
	gives("bad data", dataFault{events.BadData}, "rank 3 (h3) has bad data: part.3: line 17"),
	gives("bad options", dataFault{events.BadOptions}, "rank 3 (h3) has bad options"),
	gives("hung file system", dataFault{events.Hung}, "rank 3 (h3) waits for a file system that does not answer"),
	gives("panic", dataFault{events.Panicked}, "rank 3 (h3) has failed by a fault of the program"),
	gives("interrupted", fmt.Errorf("SIGTERM: %w", context.Canceled), "rank 3 (h3) was told to stop: SIGTERM"),
	gives("told to leave", fmt.Errorf("preempted: %w", ErrLeaving), "rank 3 (h3) was told to stop: preempted"),
	gives("another error", errors.New("the weights diverge"), "rank 3 (h3) gave up: the weights diverge"),

	breaks("process killed", 0, func(n *mem.Network) { n.Cut("h3") }, "rank 3 (h3) ended without a report"),
	breaks("host cut off", 10*time.Second, func(n *mem.Network) { n.Hold("h3", true) }, "rank 3 (h3) stopped answering"),
	breaks("only the server cut off", 10*time.Second, func(n *mem.Network) { n.Part("h3", "server", true) }, "rank 3 (h3) no longer reaches the server"),
	breaks("edge cut", 10*time.Second, func(n *mem.Network) { n.Part("h0", "h3", true) }, "the network between rank"),
	breaks("edge reset", 0, func(n *mem.Network) { n.Reset("h0", "h3") }, "the network between rank"),

	{
		name: "slow work", cfg: Config{MaxWait: 20 * time.Second}, within: 20 * time.Second, want: "rank 3 (h3) keeps the others waiting: it has been at work for",
		play: func(j *testJob, _ *mem.Network, rank int) error {
			if err := rounds(j.groups[rank], 2); err != nil {
				return err
			}
			if rank == 3 {
				time.Sleep(time.Minute)
			}
			return round(j.groups[rank], "")
		},
	},
	{
		name: "one collective fewer", cfg: Config{MaxWait: 20 * time.Second}, within: 20 * time.Second, want: "rank 3 (h3) has completed its work while others are in a collective: it made fewer calls",
		play: func(j *testJob, _ *mem.Network, rank int) error {
			n := 10
			if rank == 3 {
				n--
			}
			for range n {
				if err := j.groups[rank].Barrier(ctx); err != nil {
					return err
				}
			}
			return j.groups[rank].Done(ctx)
		},
	},
	{
		name: "different models", want: "the ranks hold different models: ranks 0-2, 4 hold",
		play: func(j *testJob, _ *mem.Network, rank int) error {
			if err := round(j.groups[rank], ""); err != nil {
				return err
			}
			var digest [32]byte
			if rank == 3 {
				digest[0] = 1
			}
			return j.groups[rank].Finish(ctx, digest, nil, nil)
		},
	},
}

// TestInjectedCauses injects faults into jobs of five ranks. The error of every other rank that the server reaches ends in a
// line with the right rank and cause, within five seconds of the time-out that detects the fault.
func TestInjectedCauses(t *testing.T) {
	for _, f := range injectedFaults {
		t.Run(strings.ReplaceAll(f.name, " ", "_"), func(t *testing.T) {
			f.cfg.NoSharedMemory = true
			inBubble(t, 5, f.cfg, func(t *testing.T, j *testJob, n *mem.Network) {
				j.ready()
				began := time.Now()
				var took [5]time.Duration
				named := 0
				errs := j.all(func(rank int) error {
					err := f.play(j, n, rank)
					took[rank] = time.Since(began)
					return err
				})
				for rank, err := range errs {
					if err != nil && strings.Contains(err.Error(), f.want) {
						named++
					} else if rank != 3 {
						t.Errorf("rank %d: got %v, want %q", rank, err, f.want)
					}
				}
				if named < 4 {
					t.Errorf("%d ranks name the cause, want 4", named)
				}
				took[3] = 0 // the rank with the fault
				if longest := slices.Max(took[:]); longest > f.within+5*time.Second {
					t.Errorf("it took %v, want at most 5 s after the time-out of %v", longest, f.within)
				}
			})
		})
	}
}

// TestCauseOfChangedBytes: a bit is changed on the way, and the line names both ends.
func TestCauseOfChangedBytes(t *testing.T) {
	inBubble(t, 3, Config{}, func(t *testing.T, j *testJob, _ *mem.Network) {
		j.reroute(2, func(n transport.Network) transport.Network { return &flipper{n, 3000} })
		j.ready()
		for rank, err := range j.all(func(rank int) error { return forever(j.groups[rank], 200) }) {
			if err == nil || !strings.Contains(err.Error(), "cause: bytes") || !strings.Contains(err.Error(), "were changed on the way") {
				t.Errorf("rank %d: got %v", rank, err)
			}
		}
	})
}

// TestCauseOfAMissingRank: a job does not start, since a rank never joins. Each rank logs the cause.
func TestCauseOfAMissingRank(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := mem.New()
		addr := startServer(t, n.Host("server"), "server:26543")
		var logs [2]safeBuffer
		var ranks sync.WaitGroup
		for rank := range logs {
			ranks.Go(func() {
				g, err := Join(ctx, Config{
					Server: addr, Job: Job{UniqueID: 7}, Rank: rank, Total: 3, Network: n.Host(fmt.Sprint("h", rank)), Host: fmt.Sprint("h", rank),
					StartTimeout: time.Minute, Log: slog.New(slog.NewTextHandler(&logs[rank], nil)),
				})
				if err != nil {
					t.Error(err)
					return
				}
				err = g.Ready(ctx, Shard{})
				if err == nil {
					t.Error("the job starts without rank 2")
				}
				g.Fail(ctx, err)
				g.Close()
			})
		}
		ranks.Wait()
		for rank := range logs {
			if text := logs[rank].String(); !strings.Contains(text, `cause="rank 2 has never joined`) {
				t.Errorf("rank %d: got the log\n%s", rank, text)
			}
		}
	})
}
