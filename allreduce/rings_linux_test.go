// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/link/upgrade"
	"github.com/gvw-project/gvw/internal/shm"
)

// stages counts the open edges of a job by how far they have come with their pipes.
func stages(j *testJob) map[upgrade.Stage]int {
	count := map[upgrade.Stage]int{}
	for _, g := range j.groups {
		en := &g.epoch.Engine
		en.Mu.Lock()
		for _, e := range en.Open {
			count[e.Ring.Stage()]++
		}
		en.Mu.Unlock()
	}
	return count
}

// gather makes every rank gather about n bytes of each, and looks at them.
func gather(g *Group, n, round int) error {
	v := make([]byte, n*g.Size())
	lo, hi := g.Segment(len(v), g.Rank())
	for i := lo; i < hi; i++ {
		v[i] = byte(i*7 + round)
	}
	if err := g.AllGather(ctx, Vec(v)); err != nil {
		return err
	}
	for i, got := range v {
		if want := byte(i*7 + round); got != want {
			return fmt.Errorf("round %d: byte %d: got %d, want %d", round, i, got, want)
		}
	}
	return nil
}

// turn makes calls until all used edges have their rings. No call waits for an upgrade, so one
// call is not enough.
func turn(j *testJob, collective func(g *Group, round int) error) {
	j.t.Helper()
	var s map[upgrade.Stage]int
	for round := range 1000 {
		j.each(func(rank int) error { return collective(j.groups[rank], round) })
		if s = stages(j); s[upgrade.Done] > 0 && s[upgrade.Pending] == 0 {
			return
		}
	}
	j.t.Fatalf("the edges' stages are %v, want all used ones done", s)
}

// TestPipes checks that collectives other than all-reduces go through shared-memory rings between
// ranks of a machine, at every size, also on edges that no sum uses.
func TestPipes(t *testing.T) {
	j := newSharedJob(t, 4, Config{})
	for round, n := range []int{1, 100, 70_000, 1_000_000, 5, 300_000} {
		j.each(func(rank int) error { return gather(j.groups[rank], n, round) })
	}
	turn(j, func(g *Group, round int) error { return gather(g, 10, round) })
	if s := stages(j); s[upgrade.Stays] > 0 {
		t.Errorf("the edges' stages are %v, want that none refuses", s)
	}

	dealt := newDealtJob(t, []int{0, 1, 0, 1}, Config{Schedule: schedule.Direct})
	v := make([][]float32, 4)
	dealt.each(func(rank int) error {
		v[rank] = make([]float32, 50_000)
		for i := range v[rank] {
			v[rank][i] = float32(rank + i%7)
		}
		return nil
	})
	turn(dealt, func(g *Group, _ int) error { return g.AllReduce(ctx, Vec(v[g.Rank()]), Max) })
	for i, got := range v[1] {
		if want := float32(3 + i%7); got != want {
			t.Fatalf("element %d: got %v, want %v", i, got, want)
		}
	}
}

// TestPipeRefused checks that an edge keeps its connection if a rank cannot open the memory.
func TestPipeRefused(t *testing.T) {
	j := newSharedJob(t, 3, Config{})
	for _, g := range j.groups {
		g.epoch.Engine.Mu.Lock()
		g.epoch.Engine.Segments.Open = func(shm.Location) (*shm.Segment, error) { return nil, errors.New("not here") }
		g.epoch.Engine.Mu.Unlock()
	}
	for round, n := range []int{10, 100_000, 10} {
		j.each(func(rank int) error { return gather(j.groups[rank], n, round) })
	}
	if s := stages(j); s[upgrade.Stays] == 0 || s[upgrade.Done] > 0 {
		t.Errorf("the edges' stages are %v, want them never to turn", s)
	}
}

// TestPipeNoticesDeath checks that a rank that waits at a ring detects the death of its peer
// before its silence lasts for LostAfter.
func TestPipeNoticesDeath(t *testing.T) {
	for n, rounds := range map[int]int{10: 20, 2_000_000: 4} {
		nets := [3]*killable{}
		for i := range nets {
			nets[i] = &killable{Network: transport.TCP}
		}
		j := newJob(t, 3, Config{Listen: "127.0.0.1:0", LostAfter: time.Hour}, transport.TCP, "127.0.0.1:0", func(rank int) transport.Network { return nets[rank] })
		j.ready()
		turn(j, func(g *Group, round int) error { return gather(g, n, round) })
		errs := j.all(func(rank int) error {
			for round := 0; ; round++ {
				if rank == 2 && round == rounds {
					nets[2].kill()
					return nil
				}
				if err := gather(j.groups[rank], n, round); err != nil {
					return err
				}
			}
		})
		checkLost(t, errs, 2, 2)
	}
}

// BenchmarkAllGather compares the ways between ranks of a machine.
func BenchmarkAllGather(b *testing.B) {
	const size = 4
	for _, n := range []int{4, 64 << 10, 1 << 20} {
		for _, shm := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d bytes/memory %v", n, shm), func(b *testing.B) {
				j := newLoopbackJob(b, size, Config{NoSharedMemory: !shm, NoChecksum: true})
				j.ready()
				b.SetBytes(int64(n))
				j.each(func(rank int) error {
					v := make([]byte, n*size)
					for range b.N {
						if err := j.groups[rank].AllGather(ctx, Vec(v)); err != nil {
							return err
						}
					}
					return nil
				})
			})
		}
	}
}
