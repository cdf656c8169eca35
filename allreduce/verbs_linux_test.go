// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/allreduce/verbs/verbstest"
	"github.com/gvw-project/gvw/internal/sampled"
)

// newVerbsJob is a job over loopback whose edges are lifted to a fabric in memory. When the
// test has ended and the job is closed, nothing of the fabric is left open.
func newVerbsJob(t *testing.T, total int, cfg Config) (*testJob, *verbstest.Fabric) {
	t.Helper()
	f := verbstest.New(uint64(total), verbstest.Device("fake0", "10.77.0.1"))
	t.Cleanup(func() {
		if left := f.Left(); left != "" {
			t.Errorf("left open: %s", left)
		}
	})
	cfg.Transport, cfg.library = TransportVerbs, f
	return newTCPJob(t, total, cfg), f
}

// TestAnySceneOverVerbs: all schedules and collectives have the bits that they have over TCP.
func TestAnySceneOverVerbs(t *testing.T) {
	if testing.Short() {
		t.Log("sampled: a quarter of the schedules per size")
	}
	for _, size := range sampled.Race(t, []int{2, 3, 4, 8}, 1, 2) {
		for i, name := range schedule.Names {
			if testing.Short() && i%4 != size%4 {
				continue
			}
			s := scene{size: size, count: 10_007, root: size / 2, cfg: Config{Schedule: name, Chunk: 32 << 10}, seed: uint64(size) * uint64(name)}
			t.Run(fmt.Sprint(size, name), func(t *testing.T) {
				j, f := newVerbsJob(t, size, s.cfg)
				j.each(func(rank int) error { return s.play(j.groups[rank]) })
				for _, g := range j.groups {
					if !strings.HasPrefix(g.Verbs(), "fake0 port 1 ") {
						t.Errorf("rank %d: got %q", g.Rank(), g.Verbs())
					}
				}
				if f.Writes() == 0 {
					t.Error("nothing was written over verbs")
				}
			})
		}
	}
}

// TestRegisteredVectors are sent from where they are, and have the same bits.
func TestRegisteredVectors(t *testing.T) {
	const n, elements = 3, 300_000
	j, _ := newVerbsJob(t, n, Config{})
	want := sumOfAll(schedule.Auto, n, elements)
	j.ready()
	j.each(func(rank int) error {
		g := j.groups[rank]
		v, err := Alloc[float32](g, elements)
		if err != nil {
			return err
		}
		if rank == 1 {
			v = make([]float32, elements)
			if err := g.Register(Vec(v)); err != nil {
				return err
			}
		}
		for range 4 {
			copy(v, contribution(rank, elements))
			if err := g.AllReduce(ctx, Vec(v), Sum); err != nil {
				return err
			}
			if !sameBits(v, want) {
				return errors.New("other bits")
			}
		}
		var direct int64
		for _, e := range g.epoch.Engine.Open {
			direct += e.Stream.(*verbs.Stream).Direct
		}
		if direct < 4*elements { // at least once across
			return fmt.Errorf("%d bytes were sent from where they are", direct)
		}
		if rank == 1 {
			return errors.Join(g.Unregister(Vec(v)), g.Unregister(Vec(v)))
		}
		return nil
	})
}

// TestARefusedVectorIsCopied checks that a vector that was registered before the job was wired is
// copied if the device then refuses it.
func TestARefusedVectorIsCopied(t *testing.T) {
	const n, elements = 2, 300_000
	j, f := newVerbsJob(t, n, Config{})
	f.Refuse(1 << 20)
	want := sumOfAll(schedule.Auto, n, elements)
	vectors := [n][]float32{}
	for rank, g := range j.groups {
		vectors[rank] = contribution(rank, elements)
		if err := g.Register(Vec(vectors[rank])); err != nil {
			t.Fatal(err)
		}
	}
	j.ready()
	j.each(func(rank int) error { return j.groups[rank].AllReduce(ctx, Vec(vectors[rank]), Sum) })
	for rank, v := range vectors {
		if !sameBits(v, want) {
			t.Errorf("rank %d has other bits", rank)
		}
		if log := j.logs[rank].String(); !strings.Contains(log, "cannot register 1200000 bytes") {
			t.Errorf("rank %d has not logged the refusal: %s", rank, log)
		}
	}
}

// TestSumsOfASlotAreRegistered: the group's own memory is sent from where it is, and deregistered
// when it becomes too small.
func TestSumsOfASlotAreRegistered(t *testing.T) {
	const n = 2
	j, f := newVerbsJob(t, n, Config{})
	j.ready()
	var open string // the same after each call: no region stays registered that is no longer used
	for call, weights := range []int{100_000, 200_000, 50_000} {
		j.each(func(rank int) error {
			w := make([]float32, 3*weights)
			return j.groups[rank].AccumulateAvg(ctx, w, w, 3, 1)
		})
		if call == 0 {
			open = f.Left()
		}
		if got := f.Left(); got != open {
			t.Errorf("after call %d there are %s, want %s", call, got, open)
		}
	}
	for rank, g := range j.groups {
		var direct int64
		for _, e := range g.epoch.Engine.Open {
			direct += e.Stream.(*verbs.Stream).Direct
		}
		if want := int64(4 * (100_000 + 200_000 + 50_000) / 2); direct < want {
			t.Errorf("rank %d: %d bytes were sent from where they are, want %d or more", rank, direct, want)
		}
	}
	j.close()
	for rank := range n {
		if log := j.logs[rank].String(); !strings.Contains(log, " bytes sent from where they were") {
			t.Errorf("rank %d does not tell what it has sent: %s", rank, log)
		}
	}
}

// TestOneRankWithoutADevice checks that one rank without a device makes auto TCP for all ranks,
// with its number in the log, and makes verbs an error.
func TestOneRankWithoutADevice(t *testing.T) {
	const n = 3
	f := verbstest.New(1, verbstest.Device("fake0", "10.77.0.1"))
	bare := verbstest.New(1)
	j := newTCPJob(t, n, Config{Transport: TransportAuto, library: f})
	j.groups[1].cfg.library = bare
	checkCollectives(t, j, 5000)
	for rank, g := range j.groups {
		if log := j.logs[rank].String(); g.Verbs() != "" || !strings.Contains(log, "transport: TCP, since rank 1 cannot use verbs") {
			t.Errorf("rank %d: over %q, log %s", rank, g.Verbs(), log)
		}
	}
	if left := f.Left(); left != "" || f.Writes() > 0 {
		t.Errorf("left open: %s; %d writes", left, f.Writes())
	}
	_, err := Join(ctx, Config{Server: j.server, Job: Job{UniqueID: 8}, Total: 2, Transport: TransportVerbs, library: bare})
	if want := "allreduce: rank 0: transport verbs: verbs: there is no RDMA device on this machine"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestAVerbsRankGivesUp checks that a device that fails between Join and the wiring ends the job
// with the same error on all ranks, and makes auto TCP.
func TestAVerbsRankGivesUp(t *testing.T) {
	for _, how := range []Transport{TransportVerbs, TransportAuto} {
		t.Run(how.String(), func(t *testing.T) {
			f := verbstest.New(1, verbstest.Device("fake0", "10.77.0.1"))
			broken := verbstest.New(1, verbstest.Device("fake0", "10.77.0.1"))
			broken.Refuse(1)
			j := newTCPJob(t, 3, Config{Transport: how, library: f})
			j.groups[2].cfg.library = broken
			for rank, err := range j.all(func(rank int) error { return j.groups[rank].Ready(context.Background(), Shard{}) }) {
				switch want := "bytes of memory: cannot allocate memory"; {
				case how == TransportAuto && err != nil:
					t.Errorf("rank %d: %v", rank, err)
				case how == TransportVerbs && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "rank 2")):
					t.Errorf("rank %d: got %v, want %s", rank, err, want)
				}
			}
			j.close()
			if left := f.Left() + broken.Left(); left != "" {
				t.Errorf("left open: %s", left)
			}
		})
	}
}

// TestABrokenQueueEndsTheJob: all ranks return an error that names rank, device and status.
func TestABrokenQueueEndsTheJob(t *testing.T) {
	j, f := newVerbsJob(t, 3, Config{})
	j.ready()
	v := make([][]float32, 3)
	j.each(func(rank int) error {
		v[rank] = make([]float32, 100_000)
		return j.groups[rank].AllReduce(ctx, Vec(v[rank]), Sum)
	})
	go func() {
		time.Sleep(20 * time.Millisecond)
		f.BreakAll()
	}()
	errs := j.all(func(rank int) error {
		for {
			if err := j.groups[rank].AllReduce(ctx, Vec(v[rank]), Sum); err != nil {
				return err
			}
		}
	})
	named := false
	for rank, err := range errs {
		t.Logf("rank %d: %v", rank, err)
		named = named || strings.Contains(err.Error(), "fake0 port 1: ") && strings.Contains(err.Error(), "status ")
	}
	if !named {
		t.Error("no rank names device and status")
	}
}

// TestNothingAllocatesOverVerbs: not even for a collective that is larger than the window.
func TestNothingAllocatesOverVerbs(t *testing.T) {
	if sampled.UnderRace {
		t.Skip("the race detector allocates")
	}
	// Heartbeats allocate, and a loaded machine has more of them per round.
	j, _ := newVerbsJob(t, 2, Config{Heartbeat: time.Minute, LostAfter: 10 * time.Minute})
	j.ready()
	const rounds = 200 // so that the few exchanges with the server after joining count for nothing
	j.each(func(rank int) error {
		g, v := j.groups[rank], make([]float32, 200_000)
		var err error
		reduce := func() { err = errors.Join(err, g.AllReduce(ctx, Vec(v), Sum)) }
		for range 10 {
			reduce()
		}
		if rank == 0 {
			if n := testing.AllocsPerRun(rounds, reduce); n >= 1 {
				err = errors.Join(err, fmt.Errorf("%v allocations", n))
			}
			return err
		}
		for range rounds + 1 {
			reduce()
		}
		return err
	})
}
