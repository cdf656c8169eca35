// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/internal/epoch"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/internal/shm"
)

// onHost is the network of a rank whose host has an address of its own.
type onHost struct {
	transport.Network
	ip string
}

func (h onHost) Listen(ctx context.Context, _ string) (net.Listener, error) {
	return h.Network.Listen(ctx, net.JoinHostPort(h.ip, "0"))
}

// newDealtJob is a job over loopback whose ranks are dealt to hosts: hosts[r] is that of
// rank r, an address of the loopback's network.
func newDealtJob(t testing.TB, hosts []int, cfg Config) *testJob {
	t.Helper()
	cfg.Listen = "127.0.0.1:0"
	j := newJob(t, len(hosts), cfg, transport.TCP, "127.0.0.1:0", func(rank int) transport.Network {
		return onHost{transport.TCP, fmt.Sprintf("127.0.0.%d", 1+hosts[rank])}
	})
	j.ready()
	for rank, g := range j.groups {
		var want []int
		for r, h := range hosts {
			if h == hosts[rank] {
				want = append(want, r)
			}
		}
		if len(want) == 1 {
			want = nil
		}
		if got := g.SharedWith(); !slices.Equal(got, want) {
			t.Fatalf("hosts %v: rank %d shares memory with %v, want %v: %s", hosts, rank, got, want, j.logs[rank])
		}
	}
	return j
}

// deals are assignments of ranks to hosts.
var deals = [][]int{
	{0, 0, 1, 1},
	{0, 0, 0, 1},
	{0, 1, 0, 1},
	{0, 1, 1, 2},
	{1, 0, 0},
	{0, 0, 0, 0, 1, 1},
	{0, 0, 1, 1, 2, 2},
	{0, 1, 2, 0, 1, 2},
}

// sharedCalls returns the number of all-reduces of this epoch that have used shared memory, in whole
// or in part.
func sharedCalls(g *Group) uint64 {
	if s := g.epoch.Shared(); s != nil {
		return s.Done.Load()
	}
	return 0
}

// TestDealtToHosts checks for all assignments that results have the bits of the schedule, and that
// ranks of a host sum among themselves where the schedule adds them as a whole.
func TestDealtToHosts(t *testing.T) {
	some := deals
	if testing.Short() {
		some = deals[:4]
		t.Logf("sampled: %d of %d deals", len(some), len(deals))
	}
	for nth, hosts := range some {
		for i, name := range sampled.Race(t, allSchedules, nth%4, 4) {
			t.Run(fmt.Sprint(hosts, name), func(t *testing.T) {
				size := len(hosts)
				driver := []epoch.Driver{epoch.Poll, epoch.Conn}[(size+i)%2]
				j := newDealtJob(t, hosts, Config{Schedule: name, Chunk: 16 << 10, driver: driver})
				for seed, count := range []int{1, size + 1, 1009, shm.Piece/2 + 7} {
					before := make([]uint64, size)
					for rank, g := range j.groups {
						before[rank] = sharedCalls(g)
					}
					j.each(func(rank int) error { return dealtSum(j.groups[rank], count, seed) })
					for rank, g := range j.groups {
						want := uint64(0)
						if sharesSum(hosts, rank, name, Vec(make([]float32, count))) {
							want = 2
						}
						if got := sharedCalls(g) - before[rank]; got != want {
							t.Errorf("%d elements, rank %d: %d sums in shared memory, want %d", count, rank, got, want)
						}
					}
				}
				s := scene{size: size, count: 97, root: size / 2, cfg: j.cfg, seed: 1}
				j.each(func(rank int) error { return s.play(j.groups[rank]) })
			})
		}
	}
}

// dealtSum sums into another vector and in place, from ordinary memory and from Alloc's.
func dealtSum(g *Group, count, seed int) error {
	src := wild(count, seed, g.Rank())
	if g.Rank()%3 == 1 {
		own, err := Alloc[float32](g, count)
		if err != nil {
			return err
		}
		copy(own, src)
		src = own
	}
	dst := make([]float32, count)
	if err := g.AllReduceInto(ctx, Vec(dst), Vec(src), Sum); err != nil {
		return err
	}
	if !slices.Equal(src, wild(count, seed, g.Rank())) {
		return errors.New("the contribution has changed")
	}
	if err := g.AllReduce(ctx, Vec(src), Sum); err != nil {
		return err
	}
	spec := schedule.Spec{Schedule: g.cfg.Schedule, Size: g.Size(), Bytes: 4 * count, Elem: 4, Chunk: g.cfg.Chunk}
	want := make([]float32, count)
	for _, x := range spec.Sums() {
		evaluated(want[x.Lo/4:x.Hi/4], x, func(rank int) []float32 { return wild(count, seed, rank)[x.Lo/4 : x.Hi/4] })
	}
	if !slices.Equal(dst, want) || !slices.Equal(src, want) {
		return fmt.Errorf("%d elements: the bits are not those of %v", count, spec.Sums())
	}
	return nil
}

// evaluated returns a sum by the definition, without any optimisation.
func evaluated(dst []float32, x schedule.Sum, of func(rank int) []float32) {
	var stack [][]float32
	for _, r := range x.Expr {
		if r != schedule.Join {
			stack = append(stack, slices.Clone(of(int(r))))
			continue
		}
		a, b := stack[len(stack)-2], stack[len(stack)-1]
		for i := range a {
			a[i] += b[i]
		}
		stack = stack[:len(stack)-1]
	}
	copy(dst, stack[0])
}

// sharesSum reports whether all ranks of the rank's host together are an operand of each sum.
func sharesSum(hosts []int, rank int, name schedule.Name, v Vector) bool {
	s := schedule.Spec{Schedule: name, Size: len(hosts), Bytes: len(v.bytes()), Elem: v.kind.Size(), Chunk: 16 << 10}
	if name == schedule.Auto {
		s.Schedule = s.Pick()
	}
	byHost := map[int][]int{}
	for r, h := range hosts {
		byHost[h] = append(byHost[h], r)
	}
	var shared [][]int
	for r, h := range hosts {
		if g := byHost[h]; g[0] == r && len(g) > 1 {
			shared = append(shared, g)
		}
	}
	if len(shared) == 0 || len(byHost[hosts[rank]]) == 1 {
		return false
	}
	groups, _ := engine.Divide(s, shared)
	return slices.ContainsFunc(groups, func(g []int) bool { return len(g) > 1 && slices.Contains(g, rank) })
}

// TestHostsThatSum: the sums in which hosts take part, by the schedules that people use.
func TestHostsThatSum(t *testing.T) {
	for _, c := range []struct {
		name  schedule.Name
		hosts []int
		want  string // the ranks that sum in shared memory
	}{
		{schedule.Doubling, []int{0, 0, 1, 1}, "0123"},
		{schedule.Halving, []int{0, 0, 0, 0, 1, 1}, "012345"},
		{schedule.Doubling, []int{0, 0, 0, 1}, ""},
		{schedule.BinaryTree, []int{0, 0, 1, 1}, "01"}, // ((0+1)+2)+3
		{schedule.BinaryTree, []int{0, 0, 0, 1}, "012"},
		{schedule.Ring, []int{0, 0, 1, 1}, ""},
		{schedule.Ring, []int{0, 0, 0, 0}, "0123"},
		{schedule.Doubling, []int{0, 1, 0, 1}, ""},
	} {
		got := ""
		for rank := range c.hosts {
			if sharesSum(c.hosts, rank, c.name, Vec(make([]float32, 1<<18))) {
				got += fmt.Sprint(rank)
			}
		}
		if got != c.want {
			t.Errorf("%v on hosts %v: ranks %q, want %q", c.name, c.hosts, got, c.want)
		}
	}
}

// TestAHostThatSharesNot checks that the other hosts still share memory if one rank of a host
// refuses.
func TestAHostThatSharesNot(t *testing.T) {
	cfg := Config{Schedule: schedule.Doubling, Listen: "127.0.0.1:0"}
	j := newJob(t, 4, cfg, transport.TCP, "127.0.0.1:0", func(rank int) transport.Network {
		return onHost{transport.TCP, fmt.Sprintf("127.0.0.%d", 1+rank/2)}
	})
	j.groups[3].cfg.NoSharedMemory = true
	j.each(func(rank int) error {
		g := j.groups[rank]
		v := []float32{float32(rank)}
		err := g.AllReduce(ctx, Vec(v), Sum)
		if shares := g.SharedWith() != nil; err == nil && (v[0] != 6 || shares != (rank < 2) || g.SharedMemory()) {
			err = fmt.Errorf("got %v, shares memory with %v", v, g.SharedWith())
		}
		return err
	})
}

// TestHostsFail checks that all ranks of all hosts report a rank that is lost, makes another call,
// or is late.
func TestHostsFail(t *testing.T) {
	hosts := []int{0, 0, 1, 1}
	cfg := Config{Schedule: schedule.Doubling}
	sum := func(g *Group) error { return g.AllReduce(ctx, Vec(make([]float32, 50_000)), Sum) }
	for what, c := range map[string]struct {
		wrong func(j *testJob) error // of rank 3
		want  string
	}{
		"lost": {func(j *testJob) error {
			time.Sleep(30 * time.Millisecond)
			return j.groups[3].Close()
		}, "rank 3"},
		"mismatch": {func(j *testJob) error {
			return j.groups[3].AllReduce(ctx, Vec(make([]float32, 49_999)), Sum)
		}, "ranks disagree: "},
	} {
		t.Run(what, func(t *testing.T) {
			j := newDealtJob(t, hosts, cfg)
			errs := j.all(func(rank int) error {
				if rank == 3 {
					return c.wrong(j)
				}
				return sum(j.groups[rank])
			})
			for rank, err := range errs[:3] {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("rank %d: got %v, want %q", rank, err, c.want)
				}
			}
		})
	}
}

// TestAHostWaitsForAnother checks that a host may wait for another one longer than Stall while a
// rank there has not entered the collective.
func TestAHostWaitsForAnother(t *testing.T) {
	t.Parallel()
	j := newDealtJob(t, []int{0, 0, 1, 1}, Config{Schedule: schedule.Doubling, Stall: 6 * time.Second})
	j.each(func(rank int) error {
		if rank == 3 {
			time.Sleep(8 * time.Second)
		}
		v := []float32{1}
		err := j.groups[rank].AllReduce(ctx, Vec(v), Sum)
		if err == nil && v[0] != 4 {
			err = fmt.Errorf("got %v", v)
		}
		return err
	})
}

// BenchmarkHosts: four ranks on two machines, as far as their addresses tell, with and without
// shared memory on each.
func BenchmarkHosts(b *testing.B) {
	for _, apart := range []bool{false, true} {
		b.Run(map[bool]string{false: "shared", true: "TCP"}[apart], func(b *testing.B) {
			cfg := Config{Schedule: schedule.Halving, NoChecksum: true, NoSharedMemory: apart, Listen: "127.0.0.1:0"}
			j := newJob(b, 4, cfg, transport.TCP, "127.0.0.1:0", func(rank int) transport.Network {
				return onHost{transport.TCP, fmt.Sprintf("127.0.0.%d", 1+rank/2)}
			})
			const n = 1 << 20
			j.ready()
			b.SetBytes(n)
			j.each(func(rank int) error {
				v := make([]float32, n/4)
				for range b.N {
					if err := j.groups[rank].AllReduce(ctx, Vec(v), Sum); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}
