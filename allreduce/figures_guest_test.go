// SPDX-License-Identifier: Apache-2.0

//go:build rdma && linux

package allreduce

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFigures measures two ranks, each with a Soft-RoCE device of the guest: an all-reduce,
// and a SendRecv one way, over TCP, over verbs from memory of Go's, and from Alloc. It prints
// the time of a call: of three rounds, in which these take turns, the middle one.
func TestFigures(t *testing.T) {
	if os.Getenv("GVW_RDMA_GUEST") == "" || os.Getenv("GVW_RDMA_BENCH") == "" {
		t.Skip("it runs in the guest of tests/rdma, where GVW_RDMA_BENCH=1 asks for it")
	}
	us := map[string]float64{}
	for _, how := range []Transport{TransportTCP, TransportVerbs} {
		// Rank 1 receives: when it is done, all has come.
		for line := range strings.Lines(guestRanks(t, "TestFiguresRank", 2, how)[1]) {
			var what, memory string
			var size int
			var r [3]float64
			if _, err := fmt.Sscanf(line, "%s %s %d %f %f %f", &what, &memory, &size, &r[0], &r[1], &r[2]); err != nil {
				fmt.Print(line)
				continue
			}
			us[fmt.Sprint(what, memory, how, size)] = r[1]
			fmt.Printf("FIGURE %s of %d B over %v, memory of %s: %.0f us (%.0f to %.0f)\n", what, size, how, memory, r[1], r[0], r[2])
		}
	}
	for _, what := range []string{"all-reduce", "send-receive"} {
		for _, size := range figureSizes {
			tcp := us[fmt.Sprint(what, "go", TransportTCP, size)]
			fmt.Printf("RATIO %s of %d B, TCP's time to that over verbs: copied %.2f, from Alloc %.2f\n",
				what, size, tcp/us[fmt.Sprint(what, "go", TransportVerbs, size)], tcp/us[fmt.Sprint(what, "alloc", TransportVerbs, size)])
		}
	}
}

var figureSizes = []int{8, 4 << 10, 64 << 10, 1 << 20}

// TestFiguresRank is a rank of it.
func TestFiguresRank(t *testing.T) {
	var rank, size int
	var name, server string
	if _, err := fmt.Sscan(os.Getenv(envGuestRank), &rank, &size, &name, &server); err != nil {
		t.Skip("this is a process of TestFigures")
	}
	var how Transport
	if err := how.UnmarshalText([]byte(name)); err != nil {
		t.Fatal(err)
	}
	g, err := Join(ctx, Config{
		Server: server, Job: Job{UniqueID: 1}, Rank: rank, Total: size,
		Listen: fmt.Sprintf("10.77.0.%d:0", rank+1), NoSharedMemory: true, Transport: how, LostAfter: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Ready(ctx, Shard{}); err != nil {
		t.Fatal(err)
	}
	for _, bytes := range figureSizes {
		if err := figuresOf(g, bytes, min(100, max(5, 2<<20/bytes))); err != nil {
			g.Fail(ctx, err)
			t.Fatal(err)
		}
	}
	if err := errors.Join(g.Done(ctx), g.Close()); err != nil {
		t.Fatal(err)
	}
}

// figuresOf prints, for each collective and kind of memory, how long a call has taken in each of
// three rounds, in microseconds, the shortest first; and what a call cost this rank.
func figuresOf(g *Group, bytes, calls int) error {
	n := bytes / 4
	fixed, err := Alloc[float32](g, 2*n)
	if err != nil {
		return err
	}
	type place struct {
		name         string
		mine, theirs []float32
	}
	for _, what := range []string{"all-reduce", "send-receive"} {
		rounds := map[string][]float64{}
		for range 3 {
			for _, p := range []place{{"go", make([]float32, n), make([]float32, n)}, {"alloc", fixed[:n], fixed[n:]}} {
				call := func() error { return g.AllReduce(ctx, Vec(p.mine), Sum) }
				switch {
				case what == "send-receive" && g.Rank() == 0:
					call = func() error { return g.SendRecv(ctx, Vec([]float32(nil)), -1, Vec(p.mine), 1) }
				case what == "send-receive":
					call = func() error { return g.SendRecv(ctx, Vec(p.theirs), 0, Vec([]float32(nil)), -1) }
				}
				var before, after syscall.Rusage
				if err := g.Barrier(ctx); err != nil {
					return err
				}
				_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
				begun := time.Now()
				for range calls {
					if err := call(); err != nil {
						return err
					}
				}
				took := time.Since(begun)
				_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
				per := func(a, b int64) float64 { return float64(a-b) / float64(calls) }
				fmt.Printf("profile of %s of %d B, %s: %.0f us user, %.0f us system, %.1f times asleep, %.1f preempted\n", what, bytes, p.name,
					per(after.Utime.Nano(), before.Utime.Nano())/1e3, per(after.Stime.Nano(), before.Stime.Nano())/1e3,
					per(after.Nvcsw, before.Nvcsw), per(after.Nivcsw, before.Nivcsw))
				rounds[p.name] = append(rounds[p.name], float64(took.Nanoseconds())/1e3/float64(calls))
			}
		}
		for _, name := range []string{"go", "alloc"} {
			r := rounds[name]
			slices.Sort(r)
			fmt.Printf("%s %s %d %f %f %f\n", what, name, bytes, r[0], r[1], r[2])
		}
	}
	return nil
}
