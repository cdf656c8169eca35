// SPDX-License-Identifier: Apache-2.0

package epoch

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

var lostTwo = &protocol.LostError{Rank: 2, Host: "h2", Why: "silent for 10 s"}

// TestSumsOfAnEpoch: the ranks of an epoch sum, also where ranks of the job are missing.
func TestSumsOfAnEpoch(t *testing.T) {
	for _, live := range []members.Set{{0, 1}, {0, 1, 2, 3, 4}, {1, 4, 6}, {2}} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, live, 7, nil)
			c.connect(t)
			want := float32(0)
			for _, rank := range live {
				want += float32(rank + 1)
			}
			if len(live) == 1 {
				return // a group of one rank carries nothing
			}
			for rank, err := range c.all(func(r *rank) error {
				for _, n := range []int{1, 1000, 5000} {
					v := make([]float32, n)
					for i := range v {
						v[i] = float32(r.number + 1)
					}
					if err := r.sum(t.Context(), v); err != nil {
						return err
					}
					if v[0] != want || v[n-1] != want {
						t.Errorf("rank %d: got %v and %v, want %v", r.number, v[0], v[n-1], want)
					}
				}
				return nil
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	}
}

// TestTheServerEndsAnEpoch: ranks in a collective return why, as the job continues or not.
func TestTheServerEndsAnEpoch(t *testing.T) {
	for _, recovers := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, members.All(3), 3, func(r *rank, cfg *Config) {
				if r.recovers = recovers; recovers {
					cfg.OnLoss = protocol.Wait
				}
			})
			c.connect(t)
			time.AfterFunc(3*time.Second, func() {
				if recovers {
					c.endEpoch(lostTwo)
				} else {
					c.endJob(lostTwo)
				}
			})
			for number, err := range c.all(func(r *rank) error {
				if r.number == 2 {
					<-c.ended
					return nil
				}
				return r.sum(t.Context(), make([]float32, 10))
			}) {
				if number == 2 {
					continue
				}
				lost, ok := errors.AsType[*engine.LostError](err)
				_, interrupted := errors.AsType[*engine.InterruptedError](err)
				if !ok || lost.Rank != 2 || interrupted != recovers {
					t.Errorf("recovers %v: rank %d: %v", recovers, number, err)
				}
				r := c.ranks[number]
				if failed := len(r.failed) > 0; failed == recovers {
					t.Errorf("recovers %v: rank %d: the job has failed: %v", recovers, number, failed)
				}
				if !r.epoch.Over() || !strings.Contains(r.epoch.OverError("reading").Error(), "rank 2") {
					t.Errorf("rank %d: over %v, by %v", number, r.epoch.Over(), r.epoch.OverError("reading"))
				}
			}
		})
	}
}

// TestARankGivesUp: the reason reaches all ranks, in a collective and before it.
func TestARankGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, members.All(3), 3, nil)
		c.connect(t)
		time.AfterFunc(time.Second, func() { c.ranks[1].epoch.Fail(context.Background(), errors.New("disk full")) })
		for number, err := range c.all(func(r *rank) error {
			if r.number == 1 {
				<-r.failed
			}
			return r.sum(t.Context(), make([]float32, 10))
		}) {
			lost, ok := errors.AsType[*engine.LostError](err)
			if err == nil || !strings.Contains(err.Error(), "disk full") || number != 1 && (!ok || lost.Rank != 1 || !lost.GaveUp) {
				t.Errorf("rank %d: %v", number, err)
			}
		}
	})
}

// TestFailBeforeTheWiring: the reason goes to the server only.
func TestFailBeforeTheWiring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, members.All(2), 2, nil)
		r := c.ranks[0]
		e := New(Config{Rank: 0, Total: 2, Server: r, Device: r.epoch.cfg.Device, Log: r.epoch.cfg.Log}, r)
		e.Fail(t.Context(), io.ErrUnexpectedEOF)
		e.End()
		lost, ok := errors.AsType[*protocol.LostError](c.Cause())
		if !ok || lost.Rank != 0 || lost.Why != io.ErrUnexpectedEOF.Error() {
			t.Errorf("the server has %v", c.Cause())
		}
	})
}

// TestTheCallerGivesUp: a cancelled collective fails the job with its cause.
func TestTheCallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, members.All(2), 2, nil)
		c.connect(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(io.ErrClosedPipe) })
		if err := c.ranks[0].sum(ctx, make([]float32, 10)); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("rank 0: %v", err)
		}
		if err := c.ranks[1].sum(t.Context(), make([]float32, 10)); err == nil || !strings.Contains(err.Error(), io.ErrClosedPipe.Error()) {
			t.Errorf("rank 1: %v", err)
		}
	})
}

// TestTheEndOfTheEngine checks that a collective returns an error if its group was closed before it or during it,
// if the job ends without a failure, and if the connections could not be used. In these cases no root cause is
// sought, so a collective that waited for one would not return.
func TestTheEndOfTheEngine(t *testing.T) {
	for _, c := range []struct {
		name   string
		driver Driver
		end    func(r *rank)
		during bool // end is called during the collective
		closed bool // the error is ErrClosed
		text   string
	}{
		{name: "closed during it", during: true, closed: true, text: "the group is closed", end: func(r *rank) { close(r.closed); r.epoch.End() }},
		{name: "closed before it", closed: true, text: "the group is closed", end: func(r *rank) { close(r.closed); r.epoch.End() }},
		{name: "the job ends", text: "rank 0: the job is ending: no collective may be called", end: func(r *rank) {
			en := &r.epoch.Engine
			en.Mu.Lock()
			defer en.Mu.Unlock()
			en.Ending = true // as Group.Finish does
		}},
		{name: "no edge can be attached", driver: Poll, text: "rank 0: the connection to rank 1", end: func(*rank) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := newCluster(t, members.All(2), 2, func(_ *rank, cfg *Config) { cfg.Driver = c.driver })
				errs := cl.all(func(r *rank) error { return r.epoch.Connect(t.Context()) })
				if errs[0] != nil && c.driver != Poll {
					t.Fatal(errs[0])
				}
				r := cl.ranks[0]
				if c.during {
					time.AfterFunc(time.Second, func() { c.end(r) })
				} else {
					c.end(r)
				}
				err := r.sum(t.Context(), make([]float32, 10))
				if err == nil || !strings.Contains(err.Error(), c.text) || errors.Is(err, engine.ErrClosed) != c.closed {
					t.Errorf("got %v, want %q", err, c.text)
				}
			})
		})
	}
}

// TestRanksAtWorkAreWaitedFor: in an epoch that follows a loss a rank may still do the work of the epoch
// before. Neither the ranks next to it in the tree nor one that reaches it in a schedule give it up,
// though this epoch is the first one of theirs.
func TestRanksAtWorkAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, members.All(3), 3, func(r *rank, cfg *Config) {
			r.recovers, cfg.OnLoss = true, protocol.Wait
		})
		const work = time.Minute // DialTimeout is 10 s
		busy := c.ranks[0]       // a child of rank 1, which is the parent of rank 2, too
		busy.atWork.Store(true)
		for number, err := range c.all(func(r *rank) error {
			if r == busy {
				time.Sleep(work)
				r.atWork.Store(false)
			}
			if err := r.epoch.Connect(t.Context()); err != nil {
				return err
			}
			v := kernels.Bytes(make([]float32, 10))
			return r.epoch.Carry(t.Context(), Collective{
				Verb: engine.VerbAllReduce, Kind: kernels.KindOf[float32](), N: 10, Op: kernels.Sum, Schedule: schedule.Ring, Root: schedule.None, Dst: v, Src: v,
			})
		}) {
			if err != nil {
				t.Errorf("rank %d: %v", number, err)
			}
		}
	})
}

// TestNoListenerInTheFirstEpoch: the first epoch of a process may have a number above 1, since a job continues the numbers
// of an earlier one with its name. A rank at whose address nothing listens is nevertheless given up only after DialTimeout,
// but after 20 s in a later epoch, and by a process that takes the state from others.
func TestNoListenerInTheFirstEpoch(t *testing.T) {
	for name, c := range map[string]struct {
		later   bool
		missing bool
		dial    time.Duration
		silent  time.Duration // time without a listener
		want    time.Duration // when rank 0 gives up rank 1; 0: it does not
	}{
		"first epoch":                     {dial: 100 * time.Second, silent: 90 * time.Second},
		"first epoch, without a listener": {dial: 100 * time.Second, silent: time.Hour, want: 100 * time.Second},
		"first epoch, short DialTimeout":  {dial: 5 * time.Second, silent: 15 * time.Second},
		"later epoch":                     {later: true, dial: 100 * time.Second, silent: time.Hour, want: 20 * time.Second},
		"replacement":                     {missing: true, dial: 100 * time.Second, silent: time.Hour, want: 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := newCluster(t, members.All(2), 2, func(r *rank, cfg *Config) {
					r.recovers, cfg.OnLoss, cfg.DialTimeout = true, protocol.Wait, c.dial
					if r.later = c.later; c.missing {
						r.wiring.Missing = &client.Missing{}
					}
				})
				cl.net.Part("h0", "h1", true)
				time.AfterFunc(c.silent, func() { cl.net.Part("h0", "h1", false) })
				began := time.Now()
				var gaveUp time.Duration
				connected := make(chan struct{})
				time.AfterFunc(time.Minute+c.dial, func() { close(connected) })
				go func() {
					select {
					case <-cl.ranks[0].epoch.Engine.Failed: // it dials
						gaveUp = time.Since(began)
						cl.endJob(lostTwo)
					case <-connected:
					}
				}()
				cl.all(func(r *rank) error { return r.epoch.Connect(t.Context()) })
				<-connected
				if gaveUp < c.want || gaveUp > c.want+2*mesh.RedialAfter {
					t.Errorf("gave up after %v, want %v", gaveUp, c.want)
				}
			})
		})
	}
}

// TestErrWaitsForTheCause: the job may be known to be over before the engine has failed.
func TestErrWaitsForTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, members.All(3), 3, nil)
		c.connect(t)
		time.AfterFunc(time.Second, func() { c.endJob(lostTwo) })
		err := c.ranks[0].epoch.Err(t.Context())
		if lost, ok := errors.AsType[*engine.LostError](err); !ok || lost.Rank != 2 {
			t.Errorf("got %v, want the loss of rank 2", err)
		}
	})
}

// TestNoServerDuringTheWiring: in an epoch that follows a loss, a rank waits for a neighbour that may be at work
// until the server, which would report its loss, has been lost for Patience. The rank is named.
func TestNoServerDuringTheWiring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, members.All(3), 3, func(r *rank, cfg *Config) {
			r.recovers, cfg.OnLoss = true, protocol.Wait
		})
		const lostAfter = 5 * time.Minute
		c.ranks[0].atWork.Store(true) // and never more
		time.AfterFunc(lostAfter, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.lost = io.ErrUnexpectedEOF
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		err := c.ranks[1].epoch.Connect(ctx)
		lost, ok := errors.AsType[*engine.LostError](err)
		if !ok || lost.Rank != 0 || !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "the server is lost: ") {
			t.Errorf("got %v, want that rank 0 and the server are lost", err)
		}
		if took, most := time.Since(began), lostAfter+time.Minute+5*time.Second; took < lostAfter || took > most { // Patience is a minute
			t.Errorf("it took %v, want at most %v", took, most)
		}
	})
}

// TestWaitsNameTheRank: heartbeats carry the rank for which a rank waits, and after a while in words.
func TestWaitsNameTheRank(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, members.All(2), 2, nil)
		c.connect(t)
		if w := c.ranks[0].epoch.Waits(); w.Rank != -1 || w.Text != "" {
			t.Errorf("between two collectives: %+v", w)
		}
		done := make(chan error)
		go func() { done <- c.ranks[0].sum(t.Context(), make([]float32, 10)) }()
		time.Sleep(5 * time.Second)
		if w := c.ranks[0].epoch.Waits(); w.Rank != 1 || !strings.Contains(w.Text, "waiting for rank 1") {
			t.Errorf("in a collective: %+v", w)
		}
		if err := errors.Join(c.ranks[1].sum(t.Context(), make([]float32, 10)), <-done); err != nil {
			t.Error(err)
		}
	})
}

// TestTransportsThatCannotBe: verbs are an error of the rank that requires them, and otherwise TCP.
func TestTransportsThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		how       Transport
		stream    bool
		encrypted bool
		setup     bool // a SetupError
		text      string
	}{
		{how: TCP},
		{how: TCP, stream: true},
		{how: Any, stream: true},
		{how: Verbs, stream: true, setup: true, text: "vw workers are in the job"},
		{how: Any},
		{how: Any, encrypted: true},
		{how: Verbs, text: "they need bare TCP connections"},
		{how: Verbs, encrypted: true, setup: true, text: "cannot be encrypted"},
	} {
		synctest.Test(t, func(t *testing.T) {
			cl := newCluster(t, members.All(2), 2, func(_ *rank, cfg *Config) { cfg.Transport, cfg.Encrypted = c.how, c.encrypted })
			for _, err := range cl.all(func(r *rank) error { return r.epoch.Connect(t.Context()) }) {
				if err != nil {
					t.Fatal(err)
				}
			}
			cl.wiring.Stream = c.stream // only Agree looks at it
			failed := 0
			for number, err := range cl.all(func(r *rank) error { return r.epoch.Agree(t.Context()) }) {
				if c.text == "" {
					if err != nil {
						t.Errorf("%+v: rank %d: %v", c, number, err)
					}
					continue
				}
				if err == nil || !strings.Contains(err.Error(), c.text) {
					t.Errorf("%+v: rank %d: got %v", c, number, err)
				}
				if _, setup := errors.AsType[*verbs.SetupError](err); setup {
					failed++
				}
			}
			if c.setup != (failed > 0) {
				t.Errorf("%+v: %d ranks have a SetupError", c, failed)
			}
			cl.wiring.Stream = false
		})
	}
}

// TestKeys: a plan depends on positions among the live ranks, and an operation that does not commute
// excludes schedules that change the order of operands.
// ordered is an operation on the elements in the order of the ranks. A name can be taken once in a process.
var ordered = kernels.NewOp("epoch test: first", false, func(dst, a, _ []int64) { copy(dst, a) })

func TestKeys(t *testing.T) {
	e := New(Config{Rank: 4, Total: 7, Chunk: 4096}, &rank{closed: make(chan struct{})})
	e.Wiring, e.Live = &client.Wiring{}, members.Set{1, 4, 6}
	c := Collective{Verb: engine.VerbAllReduce, Kind: kernels.KindOf[float32](), Op: kernels.Sum, Schedule: schedule.Ring, Root: schedule.None, Dst: make([]byte, 40)}
	k := e.key(c)
	if k.Spec != (schedule.Spec{Schedule: schedule.Ring, Size: 3, Bytes: 40, Elem: 4, Chunk: 4096}) {
		t.Errorf("an all-reduce: %+v", k.Spec)
	}
	c.Op = ordered
	if k = e.key(c); !k.Spec.Ordered || k.Spec.Schedule != schedule.Auto {
		t.Errorf("an all-reduce in the order of the ranks: %+v", k.Spec)
	}
	c.Verb, c.Root = engine.VerbBroadcast, 6
	if k = e.key(c); k.Root != 2 || k.Spec.Schedule != 0 || k.Spec.Ordered {
		t.Errorf("a broadcast: %+v", k)
	}
	c = Collective{Verb: engine.VerbSendRecv, Root: schedule.None, From: 6, To: schedule.None, Dst: make([]byte, 8)}
	if k = e.key(c); k.From != 2 || k.In != 8 || k.To != -1 || k.Out != 0 || k.Spec.Bytes != 0 {
		t.Errorf("send and receive: %+v", k)
	}
}
