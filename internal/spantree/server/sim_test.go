// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// simulate runs a test on a network in memory with the clock of a synctest bubble.
// Ten minutes take no time, and the result is the same each time.
func simulate(t *testing.T, cfg ServerConfig, story func(t *testing.T, n *mem.Network, r *harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := mem.New()
		l, err := n.Host("gateway").Listen(t.Context(), ":26543")
		if err != nil {
			t.Fatal(err)
		}
		r := serveOn(t, cfg, l)
		story(t, n, r)
	})
}

func simConfig(n *mem.Network, job protocol.Job, rank, total int) client.JoinConfig {
	host := fmt.Sprintf("h%d", rank)
	return client.JoinConfig{Network: n.Host(host), Server: "gateway:26543", Job: job, Rank: rank, Total: total, Advertise: ":30000"}
}

// simWired wires a job of n ranks, each on its own host.
func simWired(t *testing.T, n *mem.Network, ranks int) []*client.Member {
	t.Helper()
	all := make([]*client.Member, ranks)
	var wait sync.WaitGroup
	for rank := range ranks {
		wait.Go(func() {
			m, err := client.Join(t.Context(), simConfig(n, protocol.Job{UniqueID: 1}, rank, ranks))
			if err != nil {
				t.Error(err)
				return
			}
			all[rank] = m
			w, err := m.Ready(t.Context(), protocol.Shard{})
			if err != nil {
				t.Error(err)
				return
			}
			if got, want := w.Address(rank), fmt.Sprintf("h%d:30000", rank); got != want {
				t.Errorf("rank %d is at %s, want %s", rank, got, want)
			}
		})
	}
	wait.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return all
}

func closeAll(t *testing.T, all []*client.Member) {
	t.Helper()
	for rank, m := range all {
		if err := m.Close(); err != nil {
			t.Errorf("rank %d: Close: %v", rank, err)
		}
	}
}

// A job without traffic is kept alive by heartbeats. After LostAfter all ranks get the loss of a
// stopped host, with the same cause.
func TestSimStoppedHost(t *testing.T) {
	simulate(t, ServerConfig{}, func(t *testing.T, n *mem.Network, _ *harness) {
		all := simWired(t, n, 5)
		time.Sleep(time.Hour) // the ranks send only heartbeats
		for rank, m := range all {
			select {
			case <-m.Over():
				t.Fatalf("rank %d of a quiet job: %v", rank, m.Cause())
			default:
			}
		}
		stopped := time.Now()
		n.Hold("h3", true)
		for rank, m := range all {
			if rank == 3 {
				continue
			}
			<-m.Over()
			lost := as[*protocol.LostError](t, m.Cause())
			if lost.Rank != 3 || lost.Host != "h3" || !strings.HasPrefix(lost.Why, "silent for 10.") {
				t.Errorf("rank %d: %v", rank, lost)
			}
			if took := time.Since(stopped); took < 9*time.Second || took > 11*time.Second {
				t.Errorf("rank %d got the loss after %v, want about 10 s", rank, took)
			}
		}
		n.Hold("h3", false)
		<-all[3].Over() // the stopped rank gets its own loss when it runs again
		if lost := as[*protocol.LostError](t, all[3].Cause()); lost.Rank != 3 {
			t.Errorf("the stopped rank: %v", lost)
		}
		closeAll(t, all)
	})
}

// The loss of a killed host is detected at once.
func TestSimKilledHost(t *testing.T) {
	simulate(t, ServerConfig{}, func(t *testing.T, n *mem.Network, _ *harness) {
		all := simWired(t, n, 3)
		killed := time.Now()
		n.Cut("h1")
		for _, m := range []*client.Member{all[0], all[2]} {
			<-m.Over()
			if lost := as[*protocol.LostError](t, m.Cause()); lost.Rank != 1 || time.Since(killed) > time.Second {
				t.Errorf("after %v: %v", time.Since(killed), lost)
			}
		}
		closeAll(t, all)
	})
}

// A waiting rank logs the missing ranks every 10 s, and gives up after 10 minutes
// with an error that names them.
func TestSimWaitingForARankThatNeverJoins(t *testing.T) {
	simulate(t, ServerConfig{}, func(t *testing.T, n *mem.Network, r *harness) {
		var log bytes.Buffer
		cfg := simConfig(n, protocol.Job{UniqueID: 1}, 0, 2)
		cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		m, err := client.Join(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, err = m.Ready(t.Context(), protocol.Shard{})
		late := as[*protocol.StartError](t, err)
		if took := time.Since(start); took != 10*time.Minute {
			t.Errorf("it gave up after %v", took)
		}
		if want := "job 1 did not start within 10m0s: 1 of 2 ranks have joined, missing rank 1"; late.Error() != want {
			t.Errorf("got %q, want %q", late, want)
		}
		if got := strings.Count(log.String(), "waiting for the job to start"); got < 58 || got > 60 {
			t.Errorf("%d lines in its log, want one every 10 s:\n%s", got, &log)
		}
		// The server's log has fewer: after 10 s, 30 s, 70 s, 150 s, 310 s.
		if got := strings.Count(r.log.String(), "job waiting"); got != 5 {
			t.Errorf("%d lines in the server's log, want 5:\n%s", got, r.log)
		}
		closeAll(t, []*client.Member{m})
	})
}

// A stopped server is lost after ServerTimeout, not before.
func TestSimStoppedServer(t *testing.T) {
	simulate(t, ServerConfig{}, func(t *testing.T, n *mem.Network, _ *harness) {
		cfg := simConfig(n, protocol.Job{}, 0, 1)
		cfg.LostAfter = time.Hour // otherwise the server would close the connection first
		m, err := client.Join(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Ready(t.Context(), protocol.Shard{}); err != nil {
			t.Fatal(err)
		}
		n.Hold("gateway", true)
		start := time.Now()
		_, err = m.Complete(t.Context(), sum("m"), nil)
		gone := as[*protocol.ServerError](t, err)
		if took := time.Since(start); took < 9*time.Minute || took > 11*time.Minute {
			t.Errorf("the server was lost after %v, want about 10 min: %v", took, gone)
		}
		closeAll(t, []*client.Member{m})
		n.Hold("gateway", false)
	})
}

// In a job of many ranks every rank gets the same EPOCH_START, and the loss of one rank has the
// same cause on all others.
func TestSimManyRanks(t *testing.T) {
	simulate(t, ServerConfig{}, func(t *testing.T, n *mem.Network, _ *harness) {
		all := simWired(t, n, 200)
		n.Cut("h77")
		for rank, m := range all {
			if rank == 77 {
				continue
			}
			<-m.Over()
			if lost := as[*protocol.LostError](t, m.Cause()); lost.Rank != 77 {
				t.Errorf("rank %d: %v", rank, lost)
			}
		}
		closeAll(t, all)
	})
}

// Join keeps trying for 100 s, as vw does.
func TestSimServerThatStartsAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := mem.New()
		_, err := client.Join(t.Context(), simConfig(n, protocol.Job{}, 0, 1))
		if e := as[*protocol.ServerError](t, err); !strings.Contains(e.Error(), "tried 101 times in 1m40s") && !strings.Contains(e.Error(), "tried 100 times in 1m40s") {
			t.Errorf("no server: %v", e)
		}
		joined := make(chan error, 1)
		go func() {
			m, err := client.Join(context.Background(), simConfig(n, protocol.Job{}, 0, 1))
			if err == nil {
				err = m.Close()
			}
			joined <- err
		}()
		time.Sleep(time.Minute)
		l, err := n.Host("gateway").Listen(t.Context(), ":26543")
		if err != nil {
			t.Fatal(err)
		}
		serveOn(t, ServerConfig{}, l)
		if err := <-joined; err != nil {
			t.Error(err)
		}
	})
}
