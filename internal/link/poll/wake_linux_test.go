// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
)

// wakeLimit is the liveness limit of a wake-up. Without one a wait lasts for ever.
const wakeLimit = 30 * time.Second

// carried starts a round in which a expects a chunk, and returns what is closed at its end.
func (r *rank) carried(ctx context.Context, done <-chan struct{}) <-chan struct{} {
	expect := make([]int, len(r.ends))
	for peer, e := range r.ends {
		if e != nil {
			expect[peer] = 1
		}
	}
	r.begin(make([][][]byte, len(r.ends)), expect)
	ended := make(chan struct{})
	go func() {
		r.loop.Carry(ctx, done, r.links)
		close(ended)
	}()
	return ended
}

// awaitEnd fails the test if a wait of the rank has not ended within wakeLimit.
func (r *rank) awaitEnd(t *testing.T, ended <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-ended:
	case <-time.After(wakeLimit):
		r.set.Mu.Lock()
		if !r.set.Down() {
			r.set.Seal(nil, nil) // otherwise the end of the test waits for it, too
		}
		r.set.Mu.Unlock()
		r.loop.Attend() // rings in any case
		t.Fatalf("%s: rank %d still waits after %v: a wake-up was lost", what, r.set.Rank, wakeLimit)
	}
}

// foreign is a context of another package, which has no hooks for functions. onErr is called after
// each look at it.
type foreign struct {
	done  chan struct{}
	over  atomic.Bool
	onErr func()
	context.Context
}

func (c *foreign) end() {
	c.over.Store(true)
	close(c.done)
}

func (c *foreign) Done() <-chan struct{} { return c.done }

func (c *foreign) Err() error {
	over := c.over.Load()
	if c.onErr != nil {
		c.onErr()
	}
	if over {
		return errors.New("over")
	}
	return nil
}

// TestEveryEventEndsAWait: each event that can end a wait ends it at any moment: before the sleep, after
// the last look at the work, during the sleep, and at random. No other byte arrives that could hide
// a lost wake-up.
func TestEveryEventEndsAWait(t *testing.T) {
	type wait struct {
		a, b   *rank
		done   chan struct{} // of a's round
		ctx    *foreign
		cancel func()
	}
	events := []struct {
		name    string
		links   bool // rank 0 has a link
		foreign bool // the context is not one of package context
		happen  func(t *testing.T, w *wait)
	}{
		{"context", true, false, func(_ *testing.T, w *wait) {
			w.ctx.end()
			w.cancel()
			time.Sleep(5 * time.Millisecond) // its hook runs before the sleep
		}},
		{"foreign context", true, true, func(_ *testing.T, w *wait) {
			w.ctx.end()
			time.Sleep(5 * time.Millisecond)
		}},
		{"end of the work", true, false, func(_ *testing.T, w *wait) {
			w.done <- struct{}{}
			w.a.loop.Wake()
		}},
		{"done is closed", true, false, func(_ *testing.T, w *wait) {
			close(w.done)
			w.a.loop.Wake()
		}},
		{"failure", true, false, func(_ *testing.T, w *wait) {
			w.a.set.Mu.Lock()
			defer w.a.set.Mu.Unlock()
			w.a.set.Seal(nil, nil)
		}},
		{"failure without a link", false, false, func(_ *testing.T, w *wait) {
			w.a.set.Mu.Lock()
			defer w.a.set.Mu.Unlock()
			w.a.set.Seal(nil, nil)
		}},
		{"end of the peer", true, false, func(_ *testing.T, w *wait) { w.b.loop.Stop() }},
		{"a new chunk to write", true, false, func(_ *testing.T, w *wait) {
			// Rank 1 ends its round when the chunk has arrived, and the round of rank 0 by its answer.
			w.b.begin([][][]byte{0: {{1}}}, []int{0: 1})
			w.a.set.Mu.Lock()
			w.a.ends[1].send = [][]byte{{2}}
			w.a.ends[1].l.Wake()
			w.a.set.Mu.Unlock()
			go w.b.finish(context.Background())
		}},
		{"a new link", false, false, func(t *testing.T, w *wait) {
			connect(t, w.a, w.b, options{})
			w.b.begin([][][]byte{0: {{1}}}, []int{0: 0})
			go w.b.finish(context.Background())
		}},
	}
	moments := []struct {
		name string
		at   func(r *rank, ctx *foreign, event func())
	}{
		{"before the sleep", func(r *rank, _ *foreign, event func()) {
			r.onAnnounce = event // it is the last call before the sleep
		}},
		{"after the last look", func(r *rank, ctx *foreign, event func()) {
			ctx.onErr = func() {
				if r.loop.bell.state.Load() == preparing {
					event()
				}
			}
		}},
		{"asleep", func(r *rank, _ *foreign, event func()) {
			go func() {
				for !r.loop.bell.sleeping() {
					runtime.Gosched()
				}
				event()
			}()
		}},
		{"at random", func(_ *rank, _ *foreign, event func()) {
			wait := time.Duration(rand.Int64N(int64(2 * spinFor)))
			time.AfterFunc(wait, event)
		}},
	}
	for _, e := range events {
		for _, m := range moments {
			t.Run(e.name+", "+m.name, func(t *testing.T) {
				ranks := newRanks(t, 2, options{})
				defer stop(ranks...)
				if e.links {
					connect(t, ranks[0], ranks[1], options{})
				}
				inner, cancel := context.WithCancel(t.Context())
				defer cancel()
				w := &wait{a: ranks[0], b: ranks[1], done: ranks[0].done, cancel: cancel}
				w.ctx = &foreign{Context: inner, done: make(chan struct{})}
				happened := make(chan struct{})
				m.at(w.a, w.ctx, sync.OnceFunc(func() {
					e.happen(t, w)
					close(happened)
				}))
				ctx := context.Context(w.ctx)
				if !e.foreign && w.ctx.onErr == nil {
					ctx = inner
				}
				w.a.awaitEnd(t, w.a.carried(ctx, w.done), e.name)
				w.a.awaitEnd(t, happened, e.name)
			})
		}
	}
}

// TestBell: a wake before prepare is not noted, one after prepare prevents the wait, and one after
// commit ends it. Several wakes ring once.
func TestBell(t *testing.T) {
	waker, err := transport.NewWaker()
	if err != nil {
		t.Fatal(err)
	}
	defer waker.Close()
	b := &bell{Waker: waker}
	var poll transport.Poller
	rung := func() bool {
		poll.Clear()
		poll.AddWaker(b.Waker)
		poll.Wait(0)
		is, _ := poll.Ready(0)
		b.Clear()
		return is
	}
	for _, c := range []struct {
		name                   string
		before, between, after int // wakes
		waits, rings           bool
	}{
		{"no wake", 0, 0, 0, true, false},
		{"awake", 3, 0, 0, true, false},
		{"after prepare", 0, 1, 0, false, false},
		{"twice after prepare", 0, 2, 0, false, false},
		{"asleep", 0, 0, 1, true, true},
		{"twice asleep", 1, 0, 2, true, true},
		{"after prepare, and later", 0, 1, 1, false, false},
	} {
		for _, wakes := range []struct {
			n    int
			then func()
		}{
			{c.before, b.prepare},
			{c.between, func() {
				if got := b.commit(); got != c.waits {
					t.Errorf("%s: commit: got %v, want %v", c.name, got, c.waits)
				}
			}},
			{c.after, func() {
				if got := rung(); got != c.rings {
					t.Errorf("%s: the bell rings: got %v, want %v", c.name, got, c.rings)
				}
			}},
		} {
			for range wakes.n {
				b.wake()
			}
			wakes.then()
		}
		if b.wakeUp(); rung() {
			t.Errorf("%s: the bell rings after the sleep", c.name)
		}
	}
}

// TestNoWakeUpIsLost: a wake during any step of a sleep either prevents the wait or ends it.
func TestNoWakeUpIsLost(t *testing.T) {
	waker, err := transport.NewWaker()
	if err != nil {
		t.Fatal(err)
	}
	defer waker.Close()
	b := &bell{Waker: waker}
	const rounds = 3000
	var made, seen atomic.Int64 // events, and those that the sleeper has seen
	var work sync.WaitGroup
	work.Go(func() {
		for n := range int64(rounds) {
			for seen.Load() < n {
				runtime.Gosched()
			}
			made.Store(n + 1)
			b.wake()
		}
	})
	var poll transport.Poller
	lost := 0
	for seen.Load() < rounds {
		b.prepare()
		if n := made.Load(); n > seen.Load() {
			seen.Store(n)
		} else if b.commit() {
			poll.Clear()
			poll.AddWaker(b.Waker)
			began := time.Now()
			if poll.Wait(int64(wakeLimit)); time.Since(began) >= wakeLimit {
				lost++
			}
			b.Clear()
		}
		b.wakeUp()
	}
	work.Wait()
	if lost > 0 {
		t.Errorf("%d of %d wake-ups were lost", lost, rounds)
	}
}

// asked is a context that counts how often a wait looks at it.
type asked struct {
	context.Context
	looks atomic.Int64
}

func (a *asked) Err() error {
	a.looks.Add(1)
	return a.Context.Err()
}

// TestALongWaitDoesNotTick: a rank whose context may end sleeps without a timeout.
func TestALongWaitDoesNotTick(t *testing.T) {
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprintf("shared %v", shared), func(t *testing.T) {
			a, b := newPair(t, options{shared: shared})
			for round := range 4 { // the links turn to rings
				exchange(t, a, b, round, 50_000)
			}
			inner, cancel := context.WithCancel(t.Context())
			defer cancel()
			ctx := &asked{Context: inner}
			for len(a.announced) > 0 {
				<-a.announced
			}
			ended := a.carried(ctx, a.done)
			<-a.announced
			for !a.loop.bell.sleeping() {
				runtime.Gosched()
			}
			before := ctx.looks.Load()
			time.Sleep(400 * time.Millisecond)
			if n := ctx.looks.Load() - before; n > 8 { // a tick of 20 ms makes 40
				t.Errorf("the rank has looked at its context %d times in 400 ms", n)
			}
			cancel()
			a.awaitEnd(t, ended, "context")
		})
	}
}

// sleeping reports whether the caller sleeps, and no wake has come yet.
func (b *bell) sleeping() bool { return b.state.Load() == asleep }
