// SPDX-License-Identifier: Apache-2.0

//go:build rdma && linux

package allreduce

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce/transport"
)

// envGuestRank says to a process of TestGuestConformance: rank, size, transport, server.
const envGuestRank = "ALLREDUCE_GUEST_RANK"

// TestGuestConformance: ranks are processes with two Soft-RoCE devices; all schedules,
// collectives and types have, over verbs, the bytes that they have over TCP. Eight ranks run a
// quarter of the reductions with each schedule, unless GVW_GUEST_ALL is set. See tests/rdma.
func TestGuestConformance(t *testing.T) {
	if os.Getenv("GVW_RDMA_GUEST") == "" {
		t.Skip("it runs in the guest of tests/rdma")
	}
	for _, size := range []int{2, 3, 4, 8} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			begun := time.Now()
			tcp := guestRanks(t, "TestGuestRank", size, TransportTCP)
			between := time.Now()
			lifted := guestRanks(t, "TestGuestRank", size, TransportVerbs)
			t.Logf("TCP %v, verbs %v", between.Sub(begun).Round(time.Second/10), time.Since(between).Round(time.Second/10))
			for rank := range size {
				if d := cmp.Diff(tcp[rank], lifted[rank]); d != "" || strings.Count(tcp[rank], "\n") < len(allSchedules) {
					t.Errorf("rank %d, %d bytes: %s", rank, len(tcp[rank]), d)
				}
			}
		})
	}
}

// guestRanks runs a process for each rank, and returns what each reports.
func guestRanks(t *testing.T, test string, size int, how Transport) []string {
	t.Helper()
	server := startServer(t, transport.TCP, "127.0.0.1:0")
	within, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	outs, errs := make([][]byte, size), make([]error, size)
	var ranks sync.WaitGroup
	for rank := range size {
		cmd := exec.CommandContext(within, os.Args[0], "-test.run=^"+test+"$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %v %s", envGuestRank, rank, size, how, server), "GOMAXPROCS=2")
		ranks.Go(func() { outs[rank], errs[rank] = cmd.CombinedOutput() })
	}
	ranks.Wait()
	reports := make([]string, size)
	for rank, out := range outs {
		if errs[rank] != nil {
			t.Fatalf("%v, rank %d: %v\n%s", how, rank, errs[rank], out)
		}
		reports[rank], _, _ = strings.Cut(string(out), "PASS")
	}
	return reports
}

// TestGuestRank is a rank in a process of its own.
func TestGuestRank(t *testing.T) {
	var rank, size int
	var name string
	var server string
	if _, err := fmt.Sscan(os.Getenv(envGuestRank), &rank, &size, &name, &server); err != nil {
		t.Skip("this is a process of TestGuestConformance")
	}
	var how Transport
	if err := how.UnmarshalText([]byte(name)); err != nil {
		t.Fatal(err)
	}
	g, err := Join(ctx, Config{
		Server: server, Job: Job{UniqueID: 1}, Rank: rank, Total: size,
		Listen: fmt.Sprintf("10.77.0.%d:0", rank%2+1), Chunk: 64 << 10, NoSharedMemory: true, Transport: how, LostAfter: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range allSchedules {
		g.cfg.Schedule = name      // on all ranks, between two collectives: one job is made for all
		v := wild(30_011, 1, rank) // longer than a chunk
		err := g.AllReduce(ctx, Vec(v), Sum)
		fmt.Printf("%v: %x\n", name, sha256.Sum256(Vec(v).bytes()))
		for seed := range uint64(4) { // each has a quarter of the reductions
			if size == 8 && seed != uint64(i)%4 && os.Getenv("GVW_GUEST_ALL") == "" {
				continue // the emulated processor takes 30 s for all of them
			}
			s := scene{size: size, count: 257, root: size / 2, cfg: g.cfg, seed: seed}
			err = errors.Join(err, s.play(g))
		}
		if err != nil {
			g.Fail(ctx, err)
			t.Fatalf("%v: %v", name, err)
		}
	}
	if want := fmt.Sprintf("rxe%d port 1 ", rank%2); (how == TransportVerbs) != strings.HasPrefix(g.Verbs(), want) {
		t.Errorf("transport %v goes over %q", how, g.Verbs())
	}
	if how == TransportVerbs {
		for _, e := range g.epoch.Engine.Open {
			if !e.Verbs.In || !e.Verbs.Out {
				t.Errorf("the edge to rank %d is not lifted", e.Rank)
			}
		}
	}
	if err := errors.Join(g.Done(ctx), g.Close()); err != nil {
		t.Fatal(err)
	}
}
