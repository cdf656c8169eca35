// SPDX-License-Identifier: Apache-2.0

package rootcause

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// fakeServer is a server whose decisions a test makes.
type fakeServer struct {
	over, ended  chan struct{}
	cause, endOf error
	lost         error // ServerErr
	deaf         int   // number of reports that it does not acknowledge
	received     []string
	onReport     func()
}

func newServer() *fakeServer {
	return &fakeServer{over: make(chan struct{}), ended: make(chan struct{})}
}

var _ Server = (*fakeServer)(nil)

func (s *fakeServer) Over() <-chan struct{}                { return s.over }
func (s *fakeServer) Cause() error                         { return s.cause }
func (s *fakeServer) Ended(*client.Wiring) <-chan struct{} { return s.ended }
func (s *fakeServer) EndOf(*client.Wiring) error           { return s.endOf }
func (s *fakeServer) ServerErr() error                     { return s.lost }
func (s *fakeServer) SetLeaveReason(why string)            { s.note("leave: " + why) }
func (s *fakeServer) note(text string)                     { s.received = append(s.received, text) }
func (s *fakeServer) endJob(cause error) {
	s.cause, s.endOf = cause, cause
	close(s.over)
	close(s.ended)
}
func (s *fakeServer) endEpoch(cause error)                 { s.endOf = cause; close(s.ended) }
func (s *fakeServer) after(d time.Duration, decide func()) { time.AfterFunc(d, decide) }
func (s *fakeServer) Fail(_ context.Context, reason, _ string) error {
	s.note("fail: " + reason)
	if s.onReport != nil {
		s.onReport()
	}
	return s.lost
}

func (s *fakeServer) Ask(_ context.Context, peer int, call uint64, fault protocol.EdgeFault, _ string) bool {
	s.note(fmt.Sprintf("ask %d about rank %d in call %d", fault, peer, call))
	if s.deaf--; s.deaf >= 0 {
		return false
	}
	if s.onReport != nil {
		s.onReport()
	}
	return true
}

// patience is no multiple of askInterval: the last wait for a decision is shorter than the others.
const patience = 65 * time.Second

func resolver(s *fakeServer, recovers bool) *Resolver {
	r := &Resolver{
		Rank: self, Recovers: recovers, OnLoss: protocol.Abort, Server: s, Wiring: &client.Wiring{Epoch: protocol.Epoch{Term: 1, N: 1}},
		Call: func() uint64 { return 17 }, Patience: patience, Closing: make(chan struct{}), Log: slog.New(slog.DiscardHandler),
	}
	if recovers {
		r.OnLoss = protocol.Wait
	}
	return r
}

var (
	lostSeven = &protocol.LostError{Rank: 7, Host: "h7", Why: "connection closed"}
	errDisk   = errors.New("disk full")
)

func brokenEdge() *engine.Failure {
	return &engine.Failure{Code: engine.FaultLost, By: self, Rank: 4, Text: "its connection ended", Ask: protocol.EdgeBroke}
}

func givesUp(err error) *engine.Failure {
	return &engine.Failure{Code: engine.FaultGaveUp, By: self, Rank: self, Text: err.Error(), Err: err}
}

// TestResolve: the cause, the reports to the server, and the time that it takes.
func TestResolve(t *testing.T) {
	asked, failed := fmt.Sprintf("ask %d about rank 4 in call 17", protocol.EdgeBroke), "fail: lost rank 4: its connection ended"
	for _, c := range []struct {
		name     string
		recovers bool
		seen     *engine.Failure
		server   func(s *fakeServer)
		rank     int // of the cause
		over     bool
		within   time.Duration
		received []string
	}{
		{
			"the server names the lost rank", false, brokenEdge(),
			func(s *fakeServer) { s.after(time.Second, func() { s.endJob(lostSeven) }) },
			7, false, time.Second,
			[]string{asked},
		},
		{
			"the server is silent", false, brokenEdge(), func(*fakeServer) {},
			4, false, causeTimeout + reportTimeout,
			[]string{asked, failed},
		},
		{
			"the server answers only the report of a loss", false, brokenEdge(),
			func(s *fakeServer) {
				s.onReport = func() {
					if len(s.received) == 2 {
						s.endJob(lostSeven)
					}
				}
			},
			7, false, causeTimeout,
			[]string{asked, failed},
		},
		{
			"this rank gives up", false, givesUp(errDisk),
			func(s *fakeServer) {
				s.onReport = func() { s.endJob(&protocol.LostError{Rank: self, Why: "disk full", GaveUp: true}) }
			},
			self, false, 0,
			[]string{"fail: disk full"},
		},
		{
			"this rank gives up after another rank was lost", false, givesUp(errDisk),
			func(s *fakeServer) { s.endJob(lostSeven) },
			7, false, 0, nil,
		},
		{
			"the epoch ends", true, brokenEdge(),
			func(s *fakeServer) { s.after(100*time.Millisecond, func() { s.endEpoch(lostSeven) }) },
			7, true, 100 * time.Millisecond, nil,
		},
		{
			"the epoch ends after reports to a server that restarts", true, brokenEdge(),
			func(s *fakeServer) {
				s.deaf = 2
				s.onReport = func() { s.endEpoch(lostSeven) }
			},
			7, true, DetailTimeout + 2*askInterval,
			[]string{asked, asked, asked},
		},
		{
			"the job ends", true, brokenEdge(),
			func(s *fakeServer) { s.after(15*time.Second, func() { s.endJob(lostSeven) }) },
			7, false, 15 * time.Second,
			[]string{asked, asked},
		},
		{
			"the server is lost for good", true, brokenEdge(),
			func(s *fakeServer) { s.lost = errors.New("connection refused") },
			4, false, DetailTimeout,
			[]string{failed},
		},
		{
			"the server never decides", true, brokenEdge(), func(*fakeServer) {},
			4, false, DetailTimeout + patience + reportTimeout,
			[]string{asked, asked, asked, asked, asked, asked, asked, failed},
		},
		{
			"corrupt bytes are reported with their sender", true,
			&engine.Failure{Code: engine.FaultGaveUp, By: self, Rank: self, Far: 5, Text: "wrong checksum", Ask: protocol.EdgeCorrupts},
			func(s *fakeServer) { s.onReport = func() { s.endEpoch(lostSeven) } },
			7, true, DetailTimeout,
			[]string{fmt.Sprintf("ask %d about rank 5 in call 17", protocol.EdgeCorrupts)},
		},
		{
			"an announced end needs no server", true,
			&engine.Failure{Code: engine.FaultOver, By: byServer, Rank: 2}, func(*fakeServer) {},
			2, true, 0, nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				c.server(s)
				began := time.Now()
				got := resolver(s, c.recovers).Resolve(t.Context(), c.seen)
				if got.Rank != c.rank || (got.Code == engine.FaultOver) != c.over {
					t.Errorf("got %+v, want rank %d, over %v", got, c.rank, c.over)
				}
				if took := time.Since(began); took > c.within {
					t.Errorf("it took %v, want at most %v", took, c.within)
				}
				if diff := cmp.Diff(c.received, s.received); diff != "" {
					t.Errorf("received (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestTheCallerEndsTheWait: the end of the caller's context, and Close, end the wait for a server
// that is away. The rank then gives up itself, or leaves.
func TestTheCallerEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Second, func() { cancel(errDisk) })
		began := time.Now()
		got := resolver(s, true).Resolve(ctx, brokenEdge())
		if took := time.Since(began); got.Err != errDisk || got.Rank != self || took != 5*time.Second {
			t.Errorf("after %v: got %+v", took, got)
		}
		if !slices.Contains(s.received, "fail: disk full") {
			t.Errorf("the server got %v", s.received)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		r := resolver(s, true)
		closing := make(chan struct{})
		r.Closing = closing
		time.AfterFunc(5*time.Second, func() { close(closing) })
		began := time.Now()
		if got := r.Resolve(t.Context(), brokenEdge()); got.Rank != 4 || time.Since(began) > 5*time.Second {
			t.Errorf("after %v: got %+v", time.Since(began), got)
		}
		// Close is the loss of this rank only: the server has not decided that the job is over.
		if got, want := s.received[len(s.received)-1], "leave: lost rank 4: its connection ended"; got != want {
			t.Errorf("the server got %q at last, want %q", got, want)
		}
		for _, got := range s.received {
			if strings.HasPrefix(got, "fail: ") {
				t.Errorf("the server got %q", got)
			}
		}
	})
}

// TestLeavingEndsNoJob: a rank that leaves for a reason outside the job does not fail it, if the job
// may continue without this attempt. A job with vw workers may not, whatever its policy.
func TestLeavingEndsNoJob(t *testing.T) {
	for _, err := range []error{engine.ErrLeaving, engine.ErrClosed, syscall.EMFILE} {
		for _, onLoss := range []protocol.OnLoss{protocol.Abort, protocol.Wait, protocol.Shrink} {
			for _, stream := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					s := newServer()
					r := resolver(s, onLoss != protocol.Abort && !stream)
					r.OnLoss = onLoss
					r.Wiring.Stream = stream
					r.Report(t.Context(), givesUp(err))
					want := "leave: "
					if onLoss == protocol.Abort || stream {
						want = "fail: "
					}
					if len(s.received) != 1 || !strings.HasPrefix(s.received[0], want) {
						t.Errorf("%v, %v, vw workers %v: got %v", err, onLoss, stream, s.received)
					}
				})
			}
		}
	}
}

// TestNoServer: without a server, and with vw's own, what a rank has seen is the cause.
func TestNoServer(t *testing.T) {
	r := resolver(nil, false)
	r.Server = nil
	if got := r.Resolve(t.Context(), brokenEdge()); got.Rank != 4 {
		t.Errorf("no server: got %+v", got)
	}
	s := newServer()
	r = resolver(s, false)
	r.Wiring = &client.Wiring{Stream: true}
	if got := r.Resolve(t.Context(), brokenEdge()); got.Rank != 4 {
		t.Errorf("vw's server: got %+v", got)
	}
}

// TestBeforeTheWiring: a failure before the first epoch is resolved by the end of the job.
func TestBeforeTheWiring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		r := resolver(s, false)
		r.Wiring = nil
		s.after(time.Second, func() { s.cause = lostSeven; close(s.over) })
		if got := r.Resolve(t.Context(), &engine.Failure{Code: engine.FaultLost, By: byServer, Rank: 4}); got.Rank != 7 {
			t.Errorf("got %+v", got)
		}
	})
}
