// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/link"
)

// forever calls AllReduce until it fails.
func forever(g *Group, elements int) error {
	v := make([]float32, elements)
	for {
		if err := g.AllReduce(ctx, Vec(v).Named("gradient"), Sum); err != nil {
			return err
		}
	}
}

// checkLost checks that all ranks except those of dead return the loss of rank.
func checkLost(t *testing.T, errs []error, rank int, dead ...int) {
	t.Helper()
	for r, err := range errs {
		if slicesHas(dead, r) {
			continue
		}
		lost, ok := errors.AsType[*LostError](err)
		if !ok || lost.Rank != rank {
			t.Errorf("rank %d: got %v, want the loss of rank %d", r, err, rank)
		}
	}
}

func slicesHas(s []int, v int) bool {
	for _, x := range s {
		if x == v {
			return true
		}
	}
	return false
}

// TestLossIsNamedByAll checks that every survivor names the dead rank at once, for each rank of
// the tree, also survivors far from it.
func TestLossIsNamedByAll(t *testing.T) {
	const n = 7
	for dead := range n {
		t.Run(fmt.Sprintf("rank %d", dead), func(t *testing.T) {
			inBubble(t, n, Config{}, func(t *testing.T, j *testJob, net *mem.Network) {
				j.ready()
				start := time.Now()
				errs := j.all(func(rank int) error {
					if rank == dead {
						time.Sleep(3 * time.Second) // the others wait in the collective
						net.Cut(fmt.Sprintf("h%d", dead))
						return nil
					}
					return forever(j.groups[rank], 1000)
				})
				checkLost(t, errs, dead, dead)
				if took := time.Since(start) - 3*time.Second; took > time.Second {
					t.Errorf("it took %v after the death", took)
				}
				for rank, err := range errs {
					if rank == dead {
						continue
					}
					if !strings.HasPrefix(err.Error(), fmt.Sprintf("rank %d: all-reduce #1 (gradient, 3.9 KiB): ", rank)) {
						t.Errorf("rank %d: the error does not say what it was doing: %v", rank, err)
					}
					if again := j.groups[rank].Barrier(ctx); again == nil || !strings.Contains(again.Error(), fmt.Sprintf("lost rank %d", dead)) {
						t.Errorf("rank %d: the next collective: %v", rank, again)
					}
				}
			})
		})
	}
}

// TestLossWithoutServer checks that neighbours pass a loss on while the server is away.
func TestLossWithoutServer(t *testing.T) {
	const n, dead = 7, 6
	inBubble(t, n, Config{}, func(t *testing.T, j *testJob, net *mem.Network) {
		j.ready()
		net.Hold("server", true) // so that it reports no loss
		net.Cut("server")
		start := time.Now()
		errs := j.all(func(rank int) error {
			if rank == dead {
				time.Sleep(time.Second)
				net.Cut(fmt.Sprintf("h%d", dead))
				return nil
			}
			return forever(j.groups[rank], 1000)
		})
		checkLost(t, errs, dead, dead)
		if took := time.Since(start) - time.Second; took > 5*time.Second {
			t.Errorf("it took %v after the death", took)
		}
	})
}

// killable is a network whose connections all end at once, as when a process is killed.
type killable struct {
	transport.Network
	mu    sync.Mutex
	conns []io.Closer
	dead  bool
}

func (k *killable) Dial(ctx context.Context, addr string) (net.Conn, error) {
	c, err := k.Network.Dial(ctx, addr)
	return k.track(c), err
}

func (k *killable) Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := k.Network.Listen(ctx, addr)
	return &killableListener{l, k}, err
}

func (k *killable) track(c net.Conn) net.Conn {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c != nil {
		k.conns = append(k.conns, tap(c))
		if k.dead {
			k.conns[len(k.conns)-1].Close()
		}
	}
	return c
}

func (k *killable) kill() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dead = true
	for _, c := range k.conns {
		c.Close()
	}
}

type killableListener struct {
	net.Listener
	k *killable
}

func (l *killableListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return l.k.track(c), err
}

// TestDeathAtAnyTime kills a rank over loopback at a random time. All survivors must name it,
// and leave no goroutine behind.
func TestDeathAtAnyTime(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 3
		t.Log("sampled: 3 rounds of 12")
	}
	before := runtime.NumGoroutine()
	worst := time.Duration(0)
	for round := range rounds {
		n := 2 + rand.IntN(6)
		dead := rand.IntN(n)
		elements := []int{1, 1000, 300_000, 2_000_000}[round%4]
		name := fmt.Sprintf("round %d: %d ranks, rank %d dies, %d elements", round, n, dead, elements)
		nets := make([]*killable, n)
		for i := range nets {
			nets[i] = &killable{Network: transport.TCP}
		}
		ok := t.Run(name, func(t *testing.T) {
			j := newJob(t, n, Config{Listen: "127.0.0.1:0", LostAfter: time.Hour}, transport.TCP, "127.0.0.1:0", func(rank int) transport.Network { return nets[rank] })
			j.ready()
			var died time.Time
			var mu sync.Mutex
			time.AfterFunc(time.Duration(rand.IntN(100))*time.Millisecond, func() {
				mu.Lock()
				defer mu.Unlock()
				died = time.Now()
				nets[dead].kill()
			})
			var corpse sync.WaitGroup
			corpse.Go(func() { forever(j.groups[dead], elements) })
			errs := j.all(func(rank int) error {
				if rank == dead {
					return nil
				}
				return forever(j.groups[rank], elements)
			})
			mu.Lock()
			took := time.Since(died)
			mu.Unlock()
			j.groups[dead].Close()
			corpse.Wait()
			worst = max(worst, took)
			checkLost(t, errs, dead, dead)
		})
		if !ok {
			break
		}
	}
	t.Logf("slowest: %v after the death", worst)
	for wait := 0; runtime.NumGoroutine() > before; wait++ {
		if wait == 3000 {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines are left, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestIdleDeathIsNoticed checks that the death of a peer is detected while no collective is under
// way, and ends the Work of a step.
func TestIdleDeathIsNoticed(t *testing.T) {
	inBubble(t, 3, Config{}, func(t *testing.T, j *testJob, net *mem.Network) {
		j.ready()
		start := time.Now()
		time.AfterFunc(time.Second, func() { net.Cut("h2") })
		errs := j.all(func(rank int) error {
			if rank == 2 {
				return nil
			}
			return j.groups[rank].Run(ctx, &idler{})
		})
		checkLost(t, errs, 2, 2)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("it took %v, the death was after 1 s", took)
		}
		if !strings.HasPrefix(errs[0].Error(), "a long pass: rank 0: lost rank 2") {
			t.Errorf("got %v", errs[0])
		}
	})
}

// idler is a machine whose Work lasts until its context ends.
type idler struct{}

func (*idler) Next() (string, bool)           { return "a long pass", true }
func (*idler) Work(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
func (*idler) Exchange(context.Context, *Group) error {
	return errors.New("there was no exchange to make")
}
func (*idler) Commit() error { return errors.New("there was nothing to commit") }

// TestDisagreement checks that all ranks get an error at once when ranks make different calls, and
// that the error shows both calls, whether an edge or the server brings it.
func TestDisagreement(t *testing.T) {
	x := make([]float32, 8)
	for _, c := range []struct {
		name      string
		odd, even func(g *Group) error
		want      []string // in the error
	}{
		{
			"length",
			func(g *Group) error { return g.AllReduce(ctx, Vec(x[:4]), Sum) },
			func(g *Group) error { return g.AllReduce(ctx, Vec(make([]float32, 8)), Sum) },
			[]string{"all-reduce #1 of 4 float32", "all-reduce #1 of 8 float32"},
		},
		{
			"kind",
			func(g *Group) error { return g.AllReduce(ctx, Vec(make([]int32, 4)), Sum) },
			func(g *Group) error { return g.AllReduce(ctx, Vec(make([]float32, 4)), Sum) },
			[]string{"of 4 int32", "of 4 float32"},
		},
		{
			"operation",
			func(g *Group) error { return g.AllReduce(ctx, Vec(make([]int32, 4)), Min) },
			func(g *Group) error { return g.AllReduce(ctx, Vec(make([]int32, 4)), Max) },
			[]string{"min", "max"},
		},
		{
			"name",
			func(g *Group) error { return g.AllReduce(ctx, Vec(make([]float32, 4)).Named("loss"), Sum) },
			func(g *Group) error { return g.AllReduce(ctx, Vec(make([]float32, 4)).Named("curvature"), Sum) },
			[]string{`"loss"`, `"curvature"`},
		},
		{
			"collective",
			func(g *Group) error { return g.Barrier(ctx) },
			func(g *Group) error { return g.AllReduce(ctx, Vec(make([]float32, 4)), Sum) },
			[]string{"barrier #1", "all-reduce #1"},
		},
		{
			"root",
			func(g *Group) error { return g.Broadcast(ctx, Vec(make([]float32, 4)), 0) },
			func(g *Group) error { return g.Broadcast(ctx, Vec(make([]float32, 4)), 3) },
			[]string{"from rank 0", "from rank 3"},
		},
		{
			"number of calls",
			func(g *Group) error {
				if err := g.Barrier(ctx); err != nil {
					return err
				}
				_, err := g.AllGatherV(ctx, nil, nil)
				return err
			},
			func(g *Group) error {
				if err := g.Barrier(ctx); err != nil {
					return err
				}
				return g.Barrier(ctx)
			},
			[]string{"barrier #2", "all-gather #2"},
		},
	} {
		for _, who := range []struct {
			name string
			odd  func(rank int) bool
		}{
			{"one rank", func(rank int) bool { return rank == 0 }},
			{"every second rank", func(rank int) bool { return rank%2 == 1 }},
		} {
			t.Run(c.name+", "+who.name, func(t *testing.T) {
				inBubble(t, 5, Config{Schedule: schedule.Doubling}, func(t *testing.T, j *testJob, _ *mem.Network) {
					j.ready()
					start := time.Now()
					for rank, err := range j.all(func(rank int) error {
						g := j.groups[rank]
						call := c.even
						if who.odd(rank) {
							call = c.odd
						}
						if err := call(g); err != nil {
							return err
						}
						return g.Barrier(ctx) // the root of a broadcast may return before the difference is found
					}) {
						for _, w := range c.want {
							if err == nil || !strings.Contains(err.Error(), w) {
								t.Errorf("rank %d: got %v, want %s in it", rank, err, w)
							}
						}
						if m, ok := errors.AsType[*MismatchError](err); !ok {
							t.Errorf("rank %d: got a %T, want a MismatchError", rank, err)
						} else if who.odd(m.Ranks[0]) == who.odd(m.Ranks[1]) {
							t.Errorf("rank %d: ranks %d and %d do not disagree", rank, m.Ranks[0], m.Ranks[1])
						}
					}
					if took := time.Since(start); took > 3*time.Second {
						t.Errorf("it took %v", took)
					}
				})
			})
		}
	}
}

func TestChunksMustAgree(t *testing.T) {
	inBubble(t, 2, Config{}, func(t *testing.T, j *testJob, _ *mem.Network) {
		j.groups[1].cfg.Chunk = 4096
		j.ready()
		for rank, err := range j.all(func(rank int) error { return forever(j.groups[rank], 10) }) {
			if err == nil || !strings.Contains(err.Error(), "chunk 4 KiB") || !strings.Contains(err.Error(), "chunk 256 KiB") {
				t.Errorf("rank %d: got %v", rank, err)
			}
		}
	})
}

// TestCancel checks that a cancelled context ends the job, and that the other ranks get the rank
// and its reason.
func TestCancel(t *testing.T) {
	inBubble(t, 4, Config{}, func(t *testing.T, j *testJob, _ *mem.Network) {
		j.ready()
		errs := j.all(func(rank int) error {
			switch rank {
			case 0:
				time.Sleep(time.Minute)
				return j.groups[rank].Barrier(ctx)
			case 2:
				c, cancel := context.WithTimeoutCause(ctx, time.Second, errors.New("interrupted by the user"))
				defer cancel()
				return j.groups[rank].Barrier(c)
			}
			return j.groups[rank].Barrier(ctx)
		})
		checkLost(t, errs, 2, 2)
		for rank, err := range errs {
			if !strings.Contains(err.Error(), "interrupted by the user") {
				t.Errorf("rank %d: got %v", rank, err)
			}
		}
		if lost, ok := errors.AsType[*LostError](errs[1]); !ok || !lost.GaveUp {
			t.Errorf("got %v, want that rank 2 gave up", errs[1])
		}
	})
}

// TestFailReachesAllRanks checks that the error which a rank gives to Fail is returned on all
// ranks.
func TestFailReachesAllRanks(t *testing.T) {
	inBubble(t, 6, Config{}, func(t *testing.T, j *testJob, _ *mem.Network) {
		j.ready()
		why := errors.New("shard.4: line 17: a weight is not a number")
		errs := j.all(func(rank int) error {
			if rank == 4 {
				time.Sleep(time.Second)
				j.groups[rank].Fail(ctx, why)
				return why
			}
			return forever(j.groups[rank], 10)
		})
		checkLost(t, errs, 4, 4)
		for rank, err := range errs {
			if !strings.Contains(err.Error(), why.Error()) {
				t.Errorf("rank %d: got %v, want %v in it", rank, err, why)
			}
		}
	})
}

// TestFailBeforeTheStart checks that it also reaches ranks that wait for the start of the job.
func TestFailBeforeTheStart(t *testing.T) {
	inBubble(t, 3, Config{}, func(t *testing.T, j *testJob, _ *mem.Network) {
		for rank, err := range j.all(func(rank int) error {
			if rank == 1 {
				time.Sleep(time.Second)
				j.groups[rank].Fail(ctx, errors.New("no such file"))
				return nil
			}
			return j.groups[rank].Ready(ctx, Shard{})
		}) {
			if rank != 1 && (err == nil || !strings.Contains(err.Error(), "no such file")) {
				t.Errorf("rank %d: got %v", rank, err)
			}
		}
	})
}

// TestFailBeforeARankHasJoined checks that a rank which joins after the failure gets its cause,
// and does not wait for ranks that do not come.
func TestFailBeforeARankHasJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := mem.New()
		server := startServer(t, n.Host("server"), "server:26543")
		join := func(rank int) *Group {
			host := fmt.Sprintf("h%d", rank)
			g, err := Join(ctx, Config{Server: server, Job: Job{UniqueID: 7, RunKey: "run"}, Rank: rank, Total: 2, Network: n.Host(host), Host: host})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { g.Close() })
			return g
		}
		join(0).Fail(ctx, errors.New("no such file"))
		began := time.Now()
		err := join(1).Ready(ctx, Shard{})
		if lost, ok := errors.AsType[*LostError](err); !ok || lost.Rank != 0 || !lost.GaveUp || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("got %v, want that rank 0 gave up, and why", err)
		}
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("the rank has waited for %v", waited)
		}
	})
}

// flipper is a network that flips one bit, late in the stream of what it dials.
type flipper struct {
	transport.Network
	at int
}

func (f *flipper) Dial(ctx context.Context, addr string) (net.Conn, error) {
	c, err := f.Network.Dial(ctx, addr)
	if err != nil || strings.HasPrefix(addr, "server") {
		return c, err
	}
	return &flippingConn{Conn: c, left: f.at}, nil
}

type flippingConn struct {
	net.Conn
	left int
}

func (c *flippingConn) Write(b []byte) (int, error) {
	if c.left >= 0 && c.left < len(b) {
		b = append([]byte(nil), b...)
		b[c.left] ^= 4
	}
	c.left -= len(b)
	return c.Conn.Write(b)
}

// TestFlippedBit checks that a bit that flips on the way ends the job and reaches no result.
func TestFlippedBit(t *testing.T) {
	for _, at := range []int{helloSize + link.FrameSize + 20, 3000, 3500} { // in a header, in data
		inBubble(t, 3, Config{}, func(t *testing.T, j *testJob, n *mem.Network) {
			j.reroute(2, func(n transport.Network) transport.Network { return &flipper{Network: n, at: at} })
			j.ready()
			for rank, err := range j.all(func(rank int) error { return forever(j.groups[rank], 200) }) {
				if err == nil || !strings.Contains(err.Error(), "a bit was flipped on the way") {
					t.Errorf("byte %d, rank %d: got %v", at, rank, err)
				}
			}
		})
	}
}
