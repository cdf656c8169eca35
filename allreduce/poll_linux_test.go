// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/epoch"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/sampled"
)

// TestSleepersAreWoken checks that a rank that sleeps in a collective wakes when the collective
// ends, for every cause of the end, and not at a time-out.
func TestSleepersAreWoken(t *testing.T) {
	const asleep = 100 * time.Millisecond
	for _, c := range []struct {
		name string
		end  func(g *Group, cancel context.CancelFunc)
		want string
	}{
		{"another rank gives up", func(g *Group, _ context.CancelFunc) { g.Fail(ctx, errors.New("no such file")) }, "no such file"},
		{"another rank is closed", func(g *Group, _ context.CancelFunc) { g.Close() }, "lost rank 2"},
		{"the context ends", func(_ *Group, cancel context.CancelFunc) { cancel() }, "context canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newTCPJob(t, 3, Config{LostAfter: time.Hour})
			j.ready()
			within, cancel := context.WithCancel(ctx)
			defer cancel()
			errs := j.all(func(rank int) error {
				if rank == 2 {
					time.Sleep(asleep)
					c.end(j.groups[rank], cancel)
					return nil
				}
				return j.groups[rank].Barrier(within)
			})
			for rank, err := range errs[:2] {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("rank %d: got %v, want %q in it", rank, err, c.want)
				}
			}
		})
	}
}

// TestClosedWhileAsleep checks that Close ends the collective of its own group.
func TestClosedWhileAsleep(t *testing.T) {
	j := newTCPJob(t, 2, Config{})
	j.ready()
	time.AfterFunc(100*time.Millisecond, func() { j.groups[0].Close() })
	if err := j.groups[0].Barrier(ctx); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("got %v, want that the group was closed", err)
	}
}

// TestKeeperNoticesDeath checks that, over sockets too, the end of a connection is detected while
// no collective is under way.
func TestKeeperNoticesDeath(t *testing.T) {
	nets := [3]*killable{}
	for i := range nets {
		nets[i] = &killable{Network: transport.TCP}
	}
	j := newJob(t, 3, Config{Listen: "127.0.0.1:0", LostAfter: time.Hour}, transport.TCP, "127.0.0.1:0", func(rank int) transport.Network { return nets[rank] })
	j.ready()
	j.each(func(rank int) error { return j.groups[rank].Barrier(ctx) })
	errs := j.all(func(rank int) error {
		if rank == 2 {
			time.Sleep(100 * time.Millisecond)
			nets[2].kill()
			return nil
		}
		return j.groups[rank].Run(ctx, &idler{})
	})
	checkLost(t, errs, 2, 2)
}

// TestDriversDisagreeAtOnce checks that ranks with different calls get an error soon, also if one
// of the calls does not use the edge between them.
func TestDriversDisagreeAtOnce(t *testing.T) {
	j := newTCPJob(t, 5, Config{Schedule: schedule.Ring, LostAfter: time.Hour})
	j.ready()
	for rank, err := range j.all(func(rank int) error {
		if rank == 1 {
			return j.groups[rank].Broadcast(ctx, Vec(make([]float32, 100)), 3)
		}
		return j.groups[rank].AllReduce(ctx, Vec(make([]float32, 100)), Sum)
	}) {
		if err == nil || !strings.Contains(err.Error(), "all-reduce #2 of 100 float32, sum, schedule ring") || !strings.Contains(err.Error(), "broadcast #2 of 100 float32, from rank 3") {
			t.Errorf("rank %d: got %v", rank, err)
		}
	}
}

// TestEdgesOpenAtFirstUse checks that wiring opens only the edges of the tree, and that the first
// ring opens the two edges to its neighbours, once.
func TestEdgesOpenAtFirstUse(t *testing.T) {
	j := newTCPJob(t, 16, Config{})
	j.ready()
	open := func() (most int) {
		for _, g := range j.groups {
			g.epoch.Engine.Mu.Lock()
			most = max(most, len(g.epoch.Engine.Open))
			g.epoch.Engine.Mu.Unlock()
		}
		return most
	}
	if got := open(); got > 3 {
		t.Errorf("after wiring a rank has %d edges, want at most 3", got)
	}
	for range 2 {
		j.each(func(rank int) error {
			j.groups[rank].cfg.Schedule = schedule.Ring
			return j.groups[rank].AllReduce(ctx, Vec(make([]float32, 1000)), Sum)
		})
		if got := open(); got > 5 {
			t.Errorf("after a ring a rank has %d edges, want at most 5", got)
		}
	}
}

// TestLargePartsCross checks that two ranks that exchange parts larger than a socket's buffers do
// not deadlock. Stall ends a deadlock; it is longer than a rank may have to wait for a processor.
func TestLargePartsCross(t *testing.T) {
	const bytes = 12 << 20
	for _, c := range sampled.Race(t, []struct {
		driver   epoch.Driver
		schedule schedule.Name
	}{{epoch.Poll, schedule.Doubling}, {epoch.Conn, schedule.Doubling}, {epoch.Poll, schedule.Direct}, {epoch.Conn, schedule.Halving}}, 0, 3) {
		t.Run(fmt.Sprintf("driver %d, %v", c.driver, c.schedule), func(t *testing.T) {
			j := newTCPJob(t, 4, Config{Schedule: c.schedule, Chunk: bytes, Stall: 30 * time.Second, driver: c.driver})
			j.ready()
			j.each(func(rank int) error {
				v := make([]float32, bytes/4)
				for i := range v {
					v[i] = float32(rank + i%7)
				}
				if err := j.groups[rank].AllReduce(ctx, Vec(v), Sum); err != nil {
					return err
				}
				for i, x := range v {
					if want := float32(6 + 4*(i%7)); x != want {
						return fmt.Errorf("element %d: got %v, want %v", i, x, want)
					}
				}
				return nil
			})
		})
	}
}
