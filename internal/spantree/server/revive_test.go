// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// waitWired wires a job that recovers.
func waitWired(t *testing.T, n *mem.Network, job protocol.Job, ranks int) ([]*client.Member, []*client.Wiring) {
	t.Helper()
	all, wirings := make([]*client.Member, ranks), make([]*client.Wiring, ranks)
	each(ranks, func(rank int) {
		cfg := simConfig(n, job, rank, ranks)
		cfg.OnLoss = protocol.Wait
		m, err := client.Join(t.Context(), cfg)
		if err != nil {
			t.Error(err)
			return
		}
		all[rank] = m
		if wirings[rank], err = m.Ready(t.Context(), protocol.Shard{Examples: uint64(10 + rank)}); err != nil {
			t.Error(err)
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return all, wirings
}

// each runs f for all ranks at the same time.
func each(ranks int, f func(rank int)) {
	var wait sync.WaitGroup
	for rank := range ranks {
		wait.Go(func() { f(rank) })
	}
	wait.Wait()
}

// finishAll finishes a job; rank 0 owes the model.
func finishAll(t *testing.T, all []*client.Member) {
	t.Helper()
	each(len(all), func(rank int) {
		m := all[rank]
		var owes []string
		if rank == 0 {
			owes = []string{"model"}
		}
		files, err := m.Complete(t.Context(), sum("m"), owes)
		for _, f := range files {
			err = errors.Join(err, m.Delivered(t.Context(), f, sum("m")))
		}
		if err = errors.Join(err, m.Finish(t.Context())); err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	})
}

// The server is restarted while a job runs. The ranks reconnect, their epoch
// continues, and the job finishes. During the grace period no job is wired.
func TestSimServerRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, journal := mem.New(), filepath.Join(t.TempDir(), "state")
		start := func() *harness {
			l, err := n.Host("gateway").Listen(t.Context(), ":26543")
			if err != nil {
				t.Fatal(err)
			}
			return serveOn(t, ServerConfig{StateFile: journal}, l)
		}
		first := start()
		all, wirings := waitWired(t, n, protocol.Job{UniqueID: 1, RunKey: "run"}, 3)
		first.close()
		time.Sleep(5 * time.Second)
		second, again := start(), time.Now()
		others, _ := waitWired(t, n, protocol.Job{UniqueID: 2, RunKey: "other"}, 2)
		if took := time.Since(again); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("another job was wired after %v, want the grace of 10 s", took)
		}
		if term := second.s.term(); term != 2 {
			t.Errorf("term %d, want 2", term)
		}
		time.Sleep(time.Minute)
		for rank, m := range all {
			if err := m.EndOf(wirings[rank]); err != nil {
				t.Errorf("rank %d: its epoch is over: %v", rank, err)
			}
		}
		finishAll(t, all)
		finishAll(t, others)
		closeAll(t, append(all, others...))
	})
}

// A rank whose connection to the server ends reconnects within a second. If the
// server sees the old connection end first, the epoch ends. The next one has the
// same ranks, and no rank is missing data.
func TestSimRankReconnects(t *testing.T) {
	simulate(t, ServerConfig{}, func(t *testing.T, n *mem.Network, r *harness) {
		all, _ := waitWired(t, n, protocol.Job{UniqueID: 1}, 3)
		all[1].DropConnection(errors.New("a switch was restarted"))
		time.Sleep(5 * time.Second)
		for rank, m := range all {
			w := m.Newest()
			if w.Epoch != all[0].Newest().Epoch || w.Missing != nil || m.EndOf(w) != nil {
				t.Errorf("rank %d: epoch %v (over: %v), lacks %+v", rank, w.Epoch, m.EndOf(w), w.Missing)
			}
		}
		finishAll(t, all)
		closeAll(t, all)
	})
}

// A rank that has finished its work is disconnected and does not get FINISHED. A server that is
// restarted with its journal then answers that the job has finished. One without a journal reports
// the other ranks as lost; ServerRestarted distinguishes this from the loss of ranks in a running
// job.
func TestSimMissedFinished(t *testing.T) {
	for _, remembers := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			n, journal := mem.New(), filepath.Join(t.TempDir(), "state")
			start := func() *harness {
				l, err := n.Host("gateway").Listen(t.Context(), ":26543")
				if err != nil {
					t.Fatal(err)
				}
				cfg := ServerConfig{}
				if remembers {
					cfg.StateFile = journal
				}
				return serveOn(t, cfg, l)
			}
			first := start()
			all, _ := waitWired(t, n, protocol.Job{UniqueID: 1, RunKey: "run"}, 3)
			each(3, func(rank int) {
				var owes []string
				if rank == 0 {
					owes = []string{"model"}
				}
				if _, err := all[rank].Complete(t.Context(), sum("m"), owes); err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			})
			n.Part("h2", "gateway", true)
			n.Cut("h2")
			time.Sleep(time.Second)
			if err := errors.Join(all[0].Delivered(t.Context(), "model", sum("m")), all[0].Finish(t.Context()), all[1].Finish(t.Context())); err != nil {
				t.Fatal(err)
			}
			closeAll(t, all[:2])
			first.close()
			start()
			n.Part("h2", "gateway", false)
			err := all[2].Finish(t.Context())
			if lost, ok := errors.AsType[*protocol.LostError](err); remembers != (err == nil) || err != nil && (!ok || !lost.ServerRestarted) {
				t.Errorf("remembers %v: %v", remembers, err)
			}
			closeAll(t, all[2:])
		})
	}
}

// Without a restart of the server, the loss of a rank does not have ServerRestarted set.
func TestSimLossWithoutARestart(t *testing.T) {
	simulate(t, ServerConfig{}, func(t *testing.T, n *mem.Network, _ *harness) {
		all, wirings := waitWired(t, n, protocol.Job{UniqueID: 1}, 2)
		n.Cut("h0") // for a moment
		time.Sleep(3 * time.Second)
		n.Kill("h1")
		_, err := all[0].Next(t.Context(), wirings[0])
		for err == nil {
			_, err = all[0].Next(t.Context(), all[0].Newest())
		}
		if lost, ok := errors.AsType[*protocol.LostError](err); !ok || lost.Rank != 1 || lost.ServerRestarted {
			t.Errorf("got %+v, want the loss of rank 1 without ServerRestarted", err)
		}
		_ = all[1].Close()
		closeAll(t, all[:1])
	})
}

// An attempt gets the files that the earlier attempt of its rank has not delivered. A restarted
// server learns these files from the attempt, and does not wait for the others.
func TestSimFilesOfAnEarlierAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := mem.New()
		start := func() *harness {
			l, err := n.Host("gateway").Listen(t.Context(), ":26543")
			if err != nil {
				t.Fatal(err)
			}
			return serveOn(t, ServerConfig{}, l)
		}
		first := start()
		job := protocol.Job{UniqueID: 1, RunKey: "run"}
		all, _ := waitWired(t, n, job, 2)
		owes := [][]string{{"model", "predictions"}, {"predictions"}}
		each(2, func(rank int) {
			if _, err := all[rank].Complete(t.Context(), sum("m"), owes[rank]); err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		})
		if err := all[0].Delivered(t.Context(), "model", sum("m")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		n.Kill("h0")
		cfg := simConfig(n, job, 0, 2)
		cfg.OnLoss, cfg.Network = protocol.Wait, n.Host("h7")
		again, err := client.Join(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if w, err := again.Ready(t.Context(), protocol.Shard{Examples: 10}); err != nil || !w.Ending {
			t.Fatalf("the next attempt: %+v, %v", w, err)
		}
		files, err := again.Complete(t.Context(), sum("m"), owes[0])
		if d := cmp.Diff([]string{"predictions"}, files); d != "" || err != nil {
			t.Fatalf("to deliver (-want +got): %s%v", d, err)
		}
		if err := again.Delivered(t.Context(), "predictions", sum("p")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		first.close()
		start()
		time.Sleep(20 * time.Second)
		if err := all[1].Delivered(t.Context(), "predictions", sum("q")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := errors.Join(all[1].Finish(ctx), again.Finish(ctx)); err != nil {
			t.Error(err)
		}
		_ = all[0].Close() // it is dead
		closeAll(t, []*client.Member{all[1], again})
	})
}
