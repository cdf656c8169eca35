// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/epoch"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/sampled"
)

// armed lets faults strike until the test ends, and counts them.
func armed(t *testing.T, text string, h fault.Hands) *atomic.Int32 {
	t.Helper()
	plan, err := fault.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	struck := new(atomic.Int32)
	h.Say = func(string) { struck.Add(1) }
	fault.Arm(plan, fault.Life{}, h)
	t.Cleanup(func() { fault.Arm(nil, fault.Life{}, fault.Hands{}) })
	return struck
}

// TestBrokenConnectionsEndTheJob checks that all ranks soon end with an error after each fault of
// a rank's connections, with each driver.
func TestBrokenConnectionsEndTheJob(t *testing.T) {
	sampled.NotInCheck(t, os.Getenv)
	for _, driver := range []epoch.Driver{epoch.Auto, epoch.Conn} {
		for _, kind := range []string{"drop", "garble", "halfopen"} {
			t.Run(fmt.Sprintf("driver %d, %s", driver, kind), func(t *testing.T) {
				struck := armed(t, "rank:1,op:3,kind:"+kind, fault.Hands{})
				cfg := Config{driver: driver}
				if kind == "halfopen" { // not known as such: a limit on waiting finds it
					cfg.Stall, cfg.MaxWait = 5*time.Second, 5*time.Second
				}
				j := newTCPJob(t, 4, cfg)
				j.ready()
				errs := j.all(func(rank int) error { return forever(j.groups[rank], 1000) })
				for rank, err := range errs {
					if err == nil {
						t.Errorf("rank %d: no error", rank)
					}
				}
				if struck.Load() != 1 {
					t.Errorf("the fault struck %d times", struck.Load())
				}
				j.close()
			})
		}
	}
}

// TestDropInSharedMemory checks that a rank whose connections end is lost, also if the sums go
// through shared memory.
func TestDropInSharedMemory(t *testing.T) {
	struck := armed(t, "rank:1,op:3,kind:drop", fault.Hands{})
	j := newLoopbackJob(t, 3, Config{})
	j.ready()
	for rank, err := range j.all(func(rank int) error { return forever(j.groups[rank], 1000) }) {
		if err == nil {
			t.Errorf("rank %d: no error", rank)
		}
	}
	if struck.Load() != 1 {
		t.Errorf("the fault struck %d times", struck.Load())
	}
}

// TestPointsOfAStep checks that Work, Commit, Wiring, collectives and Delivery are passed in
// order, and counted.
func TestPointsOfAStep(t *testing.T) {
	struck := armed(t, "rank:0,wiring:1,delay:1ms;rank:0,wiring:2,delay:1ms;rank:0,op:1,delay:2ms;rank:0,work:3,slow:2;rank:0,commit:3,delay:3ms;rank:0,delivery:1,delay:4ms",
		fault.Hands{Sleep: func(time.Duration) {}})
	j := newTCPJob(t, 2, Config{})
	j.each(func(rank int) error {
		g := j.groups[rank]
		if err := g.Run(ctx, &threeSteps{}); err != nil {
			return err
		}
		return g.Finish(ctx, [32]byte{1}, []string{"model"}, func(_ context.Context, _ string) ([32]byte, error) { return [32]byte{}, nil })
	})
	if got := struck.Load(); got != 6 {
		t.Errorf("%d faults struck, want 6", got)
	}
}

// threeSteps sums a number three times.
type threeSteps struct {
	n int
	v [1]float32
}

func (m *threeSteps) Next() (string, bool)     { m.n++; return fmt.Sprint("step ", m.n), m.n <= 3 }
func (*threeSteps) Work(context.Context) error { return nil }
func (*threeSteps) Commit() error              { return nil }
func (m *threeSteps) Exchange(c context.Context, g *Group) error {
	return g.AllReduce(c, Vec(m.v[:]), Sum)
}
