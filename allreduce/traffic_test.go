// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/spantree/client"
)

// counts returns the counts of all ranks of a job.
func (j *testJob) counts() (all []*traffic.Counts) {
	for _, g := range j.groups {
		all = append(all, g.now().Engine.Counts(time.Now()))
	}
	return all
}

// checkEdges fails the test unless all bytes are of one class, and each edge has at least so many each way. A rank counts what it
// reads with headers, so it counts no less than the other one has sent.
func checkEdges(t *testing.T, all []*traffic.Counts, via traffic.Via, least uint64) {
	t.Helper()
	for rank, c := range all {
		if len(c.Classes) != 1 || c.Classes[0].Via != via || !c.Classes[0].Local {
			t.Errorf("rank %d: got the classes %+v, want %v on one machine", rank, c.Classes, via)
		}
		for _, e := range c.Edges {
			sent, received := all[e.Rank].Edge(rank)
			whole := e.Sent > 4096 // else only agreements went over the edge
			if whole && e.Sent < least || e.Received < sent || e.Received > sent+sent/4+4096 || received < e.Sent {
				t.Errorf("rank %d has sent %d bytes to rank %d and received %d; that one has sent %d and received %d", rank, e.Sent, e.Rank, e.Received, sent, received)
			}
		}
	}
}

// Both ends of an edge count the same bytes, over TCP and in shared memory.
func TestCountsOfBothEnds(t *testing.T) {
	const n, calls = 1 << 14, 20
	for _, c := range []struct {
		name string
		job  func(t testing.TB, total int, cfg Config) *testJob
		cfg  Config
		via  traffic.Via
		each uint64 // least bytes from one rank to another one
	}{
		{"tcp", newTCPJob, Config{NoSharedMemory: true}, traffic.TCP, calls * 4 * n / 2},
		{"shared memory", newLoopbackJob, Config{}, traffic.Memory, calls * 2 * 4 * (n / 3)},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := c.job(t, 3, c.cfg)
			j.ready()
			if c.via == traffic.Memory && !j.groups[0].SharedMemory() {
				t.Skip("the ranks of this system share no memory")
			}
			before := j.counts()
			j.each(func(rank int) error {
				for range calls {
					if err := j.groups[rank].AllReduce(ctx, Vec(make([]float32, n)).Named("gradient"), Sum); err != nil {
						return err
					}
				}
				return j.groups[rank].Barrier(ctx)
			})
			after := j.counts()
			for rank := range after {
				var sum traffic.Counts
				sum.Add(after[rank], before[rank])
				for _, k := range sum.Calls {
					switch {
					case k.Call == traffic.AllReduce && k.Count == calls && k.Bytes == calls*4*n && k.Took > 0 && k.Took < after[rank].Elapsed():
					case k.Call == traffic.Barrier && k.Count == 1:
					default:
						if k.Count > 0 {
							t.Errorf("rank %d: got %+v", rank, k)
						}
					}
				}
				if in := sum.Times[traffic.Network] + sum.Times[traffic.Waiting]; in <= 0 {
					t.Errorf("rank %d was in no collective: %v", rank, sum.Times)
				}
			}
			if c.via == traffic.TCP { // the agreement at the start is over connections in any case
				checkEdges(t, after, c.via, c.each)
				return
			}
			for rank, a := range after {
				for _, e := range a.Edges {
					if e.Via == traffic.Memory && (e.Sent < c.each || max(e.Sent, e.Received)-min(e.Sent, e.Received) > 4096) {
						t.Errorf("rank %d: got %+v, want at least %d bytes each way", rank, e, c.each)
					}
				}
				if a.Classes[len(a.Classes)-1].Via != traffic.Memory {
					t.Errorf("rank %d: got the classes %+v, want shared memory", rank, a.Classes)
				}
			}
		})
	}
}

// A rank that enters a collective late makes the others wait, and the time of each rank is divided without a rest.
func TestCountsOfALateRank(t *testing.T) {
	inBubble(t, 3, Config{}, func(t *testing.T, j *testJob, _ *mem.Network) {
		j.ready()
		before := j.counts()
		j.each(func(rank int) error {
			if rank == 2 {
				time.Sleep(5 * time.Second)
			}
			return j.groups[rank].AllReduce(ctx, Vec(make([]float32, 1000)), Sum)
		})
		for rank, now := range j.counts() {
			waited, computed := now.Times[traffic.Waiting]-before[rank].Times[traffic.Waiting], now.Times[traffic.Computing]-before[rank].Times[traffic.Computing]
			want := [2]time.Duration{5 * time.Second, 0}
			if rank == 2 {
				want = [2]time.Duration{0, 5 * time.Second}
			}
			if got := [2]time.Duration{waited.Round(100 * time.Millisecond), computed.Round(100 * time.Millisecond)}; got != want {
				t.Errorf("rank %d waited and computed %v, want %v", rank, got, want)
			}
		}
	})
}

// The server has the counts of all ranks, and their sum.
func TestServerHasCounts(t *testing.T) {
	j := newTCPJob(t, 2, Config{NoSharedMemory: true, Heartbeat: 10 * time.Millisecond})
	j.ready()
	j.each(func(rank int) error { return j.groups[rank].AllReduce(ctx, Vec(make([]float32, 1<<16)), Sum) })
	ask, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		s, err := client.Status(ask, transport.TCP, j.server, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c := s.Jobs[0].Traffic; c != nil {
			sent, _ := c.Bytes()
			if r := s.Jobs[0].Ranks; sent >= 2*4<<16 && len(r) == 2 && r[0].Traffic != nil && r[1].Traffic != nil {
				return
			}
		}
	}
}
