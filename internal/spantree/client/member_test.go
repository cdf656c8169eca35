// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The frames of a member from JOIN to FINISHED have the values of its configuration and of its
// calls.
func TestLifeOfAMember(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		cfg := s.config()
		cfg.Host, cfg.Version, cfg.Generation, cfg.Checkpoint = "node1", "v9", 2, 4
		joined := background(func() (*Member, error) { return Join(t.Context(), cfg) })
		c, join := s.join()
		want := &protocol.JoinFrame{
			UniqueID: 7, RunKey: "run", Rank: 1, Total: 3, Generation: 2, Attempt: 99, Heartbeat: time.Second, LostAfter: 10 * time.Second,
			OptionsSHA256: sha256.Sum256([]byte("bits=18")), Port: 30001, Host: "node1", Options: "bits=18", Version: "v9",
		}
		if d := cmp.Diff(want, join); d != "" {
			t.Errorf("JOIN, -want +got:\n%s", d)
		}
		m, err := joined()
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()

		ready := background(func() (*Wiring, error) { return m.Ready(t.Context(), protocol.Shard{Examples: 5}) })
		if d := cmp.Diff(&protocol.ReadyFrame{Shard: protocol.Shard{Examples: 5}, Checkpoint: 4}, receive[*protocol.ReadyFrame](c)); d != "" {
			t.Errorf("READY, -want +got:\n%s", d)
		}
		c.send(startOf(1, 0, 1, 2))
		w, err := ready()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"h0:30000", "h1:30001", "h2:30002"}, w.Addresses(3)); d != "" || w.Epoch != epochOf(1) {
			t.Errorf("epoch %v, peers -want +got:\n%s", w.Epoch, d)
		}

		model := [32]byte{1, 2}
		complete := background(func() ([]string, error) { return m.Complete(t.Context(), model, []string{"model", "log"}) })
		if d := cmp.Diff(&protocol.CompleteFrame{Epoch: epochOf(1), Model: model, Owed: []string{"model", "log"}}, receive[*protocol.CompleteFrame](c)); d != "" {
			t.Errorf("COMPLETE, -want +got:\n%s", d)
		}
		c.send(&protocol.DeliverFrame{Epoch: epochOf(1), Files: []string{"log"}}) // an earlier attempt has delivered the model
		if files, err := complete(); err != nil || len(files) != 1 || files[0] != "log" {
			t.Errorf("to deliver: %v, %v", files, err)
		}
		if err := m.Delivered(t.Context(), "log", [32]byte{3}); err != nil {
			t.Error(err)
		}
		if d := cmp.Diff(&protocol.DeliveredFrame{Epoch: epochOf(1), Attempt: 99, SHA256: [32]byte{3}, File: "log"}, receive[*protocol.DeliveredFrame](c)); d != "" {
			t.Errorf("DELIVERED, -want +got:\n%s", d)
		}
		finish := failing(func() error { return m.Finish(t.Context()) })
		c.send(&protocol.FinishedFrame{Epoch: epochOf(1), Model: model})
		if err := finish(); err != nil {
			t.Error(err)
		}
		<-m.Ended(w)
		if _, is := errors.AsType[*protocol.FinishedError](m.EndOf(w)); !is || m.Cause() != nil {
			t.Errorf("the epoch has ended by %v, the job by %v", m.EndOf(w), m.Cause())
		}
		if err := m.Close(); err != nil { // without LEAVE: the job has ended
			t.Error(err)
		}
		if f, err := c.frames.Next(); err == nil {
			t.Errorf("%v after FINISHED", protocol.TypeOf(f))
		}
	})
}

// Each frame that ends a membership ends all of its waits with one cause.
func TestEndsOfAMembership(t *testing.T) {
	lost := protocol.Cause{Kind: protocol.CauseLost, Rank: 2, Host: "h2", Why: "silent for 10s"}
	for name, c := range map[string]struct {
		frame protocol.Frame
		want  error
	}{
		"REFUSED": {
			&protocol.RefusedFrame{Code: protocol.RankHeld, Reason: "held"},
			&protocol.RefusedError{Server: "gateway:26543", Code: protocol.RankHeld, Reason: "held"},
		},
		"FENCED": {
			&protocol.FencedFrame{Epoch: epochOf(1), Reason: "evicted"},
			&protocol.RefusedError{Server: "gateway:26543", Code: protocol.AttemptFenced, Reason: "evicted"},
		},
		"a lost rank": {
			&protocol.EpochEndFrame{Epoch: epochOf(1), Final: true, Cause: lost},
			&protocol.LostError{Job: protocol.Job{UniqueID: 7, RunKey: "run"}, Rank: 2, Host: "h2", Why: "silent for 10s"},
		},
		"a rank that gave up": {
			&protocol.EpochEndFrame{Epoch: epochOf(1), Final: true, Cause: protocol.Cause{Kind: protocol.CauseGaveUp, Rank: 0, Why: "no data", Detail: "d"}},
			&protocol.LostError{Job: protocol.Job{UniqueID: 7, RunKey: "run"}, Rank: 0, Why: "no data", GaveUp: true, Detail: "d"},
		},
		"a failed job": {
			&protocol.EpochEndFrame{Epoch: epochOf(1), Final: true, Cause: protocol.Cause{Kind: protocol.CauseRefused, Code: protocol.Cancelled, Rank: -1, Why: "cancelled"}},
			&protocol.RefusedError{Server: "gateway:26543", Code: protocol.Cancelled, Reason: "cancelled"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			scripted(t, func(t *testing.T, s *scriptedServer) {
				m, w, conn := s.wired(s.config())
				next := background(func() (*Wiring, error) { return m.Next(t.Context(), w) })
				finish := failing(func() error { return m.Finish(t.Context()) })
				conn.send(c.frame)
				<-m.Over()
				<-m.Ended(w)
				_, errNext := next()
				for of, got := range map[string]error{"Cause": m.Cause(), "EndOf": m.EndOf(w), "Next": errNext, "Finish": finish()} {
					if d := cmp.Diff(c.want, got); d != "" {
						t.Errorf("%s, -want +got:\n%s", of, d)
					}
				}
			})
		})
	}
}

// A rank that waits for missing ranks fails after StartTimeout, with the server's report. When all
// have joined there is no limit, and the log has a line every ten seconds.
func TestStartTimeout(t *testing.T) {
	for name, joined := range map[string]uint32{"missing ranks": 2, "all ranks": 3} {
		t.Run(name, func(t *testing.T) {
			scripted(t, func(t *testing.T, s *scriptedServer) {
				cfg := s.config()
				cfg.StartTimeout = time.Minute
				m, c := s.member(cfg)
				began := time.Now()
				ready := background(func() (*Wiring, error) { return m.Ready(t.Context(), protocol.Shard{}) })
				receive[*protocol.ReadyFrame](c)
				c.send(&protocol.WaitingFrame{Joined: joined, Ready: 1, Total: 3, Report: "2 of 3 ranks have joined, missing rank 2"})
				if joined == 3 {
					time.Sleep(3 * cfg.StartTimeout)
					c.send(startOf(1, 0, 1, 2))
					if _, err := ready(); err != nil {
						t.Error(err)
					}
					return
				}
				_, err := ready()
				late, is := errors.AsType[*protocol.StartError](err)
				if took := time.Since(began); !is || !strings.Contains(late.Report, "missing rank 2") || took != cfg.StartTimeout {
					t.Errorf("after %v: %v, want a *StartError after %v", took, err, cfg.StartTimeout)
				}
			})
		})
	}
}

// FAIL ends the job on all ranks. The reason is one line.
func TestFail(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		m, _, c := s.wired(s.config())
		fail := failing(func() error { return m.Fail(t.Context(), "no\nspace  left", "detail") })
		if d := cmp.Diff(&protocol.FailFrame{Epoch: epochOf(1), Reason: "no space left", Detail: "detail"}, receive[*protocol.FailFrame](c)); d != "" {
			t.Errorf("FAIL, -want +got:\n%s", d)
		}
		c.send(&protocol.EpochEndFrame{Epoch: epochOf(1), Final: true, Cause: protocol.Cause{Kind: protocol.CauseGaveUp, Rank: 1, Why: "no space left"}})
		if err := fail(); err != nil {
			t.Error(err)
		}
	})
}

// The time that the caller of Fail grants the server counts from FAIL, also if the frames before it took longer.
func TestFailWaitsFromItsFrame(t *testing.T) {
	const patience, late = time.Second, 1500 * time.Millisecond // the server reads after the deadline of the call
	for name, c := range map[string]struct {
		answer time.Duration // after FAIL; 0: never
		cancel time.Duration // of the call, after FAIL; 0: never
		took   time.Duration
		want   error
	}{
		"an answer in time":   {answer: 900 * time.Millisecond, took: late + 900*time.Millisecond},
		"no answer":           {took: late + patience, want: context.DeadlineExceeded},
		"a cancelled context": {cancel: 100 * time.Millisecond, took: late + 100*time.Millisecond, want: context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			scripted(t, func(t *testing.T, s *scriptedServer) {
				cfg := s.config()
				cfg.Heartbeat = time.Minute
				cfg.Events = events.New()
				for n := range events.Capacity {
					cfg.Events.Add(events.Event{Kind: events.Wait, Number: uint64(n), Peer: -1, Name: strings.Repeat("x", 200)}, time.Now())
				}
				m, _, session := s.wired(cfg)
				session.fill(m)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.cancel == 0 {
					ctx, cancel = context.WithTimeout(ctx, patience)
					defer cancel()
				}
				began := time.Now()
				fail := failing(func() error { return m.Fail(ctx, "no label", "") })
				time.Sleep(late)
				for {
					if _, ok := session.next().(*protocol.FailFrame); ok {
						break
					}
				}
				switch {
				case c.answer > 0:
					time.Sleep(c.answer)
					session.send(&protocol.EpochEndFrame{Epoch: epochOf(1), Final: true, Cause: protocol.Cause{Kind: protocol.CauseGaveUp, Rank: 1, Why: "no label"}})
				case c.cancel > 0:
					time.Sleep(c.cancel)
					cancel()
				}
				if err := fail(); err != c.want {
					t.Errorf("got %v, want %v", err, c.want)
				}
				if took := time.Since(began); took != c.took {
					t.Errorf("Fail took %v, want %v", took, c.took)
				}
			})
		})
	}
}

// Close of a running member sends LEAVE with the reason, and waits at most leaveTimeout for the
// server.
func TestCloseLeaves(t *testing.T) {
	for name, answers := range map[string]bool{"the server answers": true, "the server is silent": false} {
		t.Run(name, func(t *testing.T) {
			scripted(t, func(t *testing.T, s *scriptedServer) {
				m, _, c := s.wired(s.config())
				m.SetLeaveReason("preempted")
				began := time.Now()
				closed := failing(m.Close)
				if f := receive[*protocol.LeaveFrame](c); f.Reason != "preempted" || f.Epoch != epochOf(1) {
					t.Errorf("LEAVE is %+v", f)
				}
				want := leaveTimeout
				if answers {
					c.send(&protocol.FinishedFrame{Epoch: epochOf(1)})
					want = 0
				}
				if err := closed(); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took != want {
					t.Errorf("Close took %v, want %v", took, want)
				}
				if err := m.Close(); err != nil {
					t.Errorf("the second Close: %v", err)
				}
			})
		})
	}
}

// Close ends all waits with ErrClosed, also if the server answers its LEAVE: that FINISHED does not mean that the job has
// finished.
func TestCloseEndsWaits(t *testing.T) {
	waits := map[string]func(m *Member, w *Wiring) error{
		"Ready": func(m *Member, _ *Wiring) error {
			_, err := m.Ready(context.Background(), protocol.Shard{})
			return err
		},
		"Next": func(m *Member, w *Wiring) error {
			_, err := m.Next(context.Background(), w)
			return err
		},
		"Members": func(m *Member, _ *Wiring) error {
			_, err := m.Members(context.Background())
			return err
		},
		"Assigned": func(m *Member, _ *Wiring) error {
			_, err := m.Assigned(context.Background())
			return err
		},
		"Complete": func(m *Member, _ *Wiring) error {
			_, err := m.Complete(context.Background(), [32]byte{}, nil)
			return err
		},
		"Finish": func(m *Member, _ *Wiring) error { return m.Finish(context.Background()) },
	}
	for name, wait := range waits {
		for _, onLoss := range []protocol.OnLoss{protocol.Abort, protocol.Wait} {
			for _, answers := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, on loss %v, the server answers: %v", name, onLoss, answers), func(t *testing.T) {
					scripted(t, func(t *testing.T, s *scriptedServer) {
						cfg := s.config()
						cfg.OnLoss = onLoss
						var m *Member
						var w *Wiring
						var c *session
						switch name {
						case "Assigned":
							cfg.OnLoss, cfg.Spare = protocol.Wait, true
							m, c = s.member(cfg)
						case "Members":
							cfg.OnLoss, cfg.Elastic = protocol.Shrink, time.Minute
							m, c = s.member(cfg)
						case "Ready":
							m, c = s.member(cfg)
						default:
							m, w, c = s.wired(cfg)
						}
						waited := failing(func() error { return wait(m, w) })
						synctest.Wait()
						closed := failing(m.Close)
						for {
							if _, leaves := c.next().(*protocol.LeaveFrame); leaves {
								break
							}
						}
						if answers {
							c.send(&protocol.FinishedFrame{Epoch: epochOf(1)})
						}
						if err := waited(); err != ErrClosed {
							t.Errorf("got %v, want ErrClosed", err)
						}
						if err := closed(); err != nil {
							t.Error(err)
						}
						if err := wait(m, w); err != ErrClosed {
							t.Errorf("after Close: got %v, want ErrClosed", err)
						}
					})
				})
			}
		}
	}
}

// A spare gets one rank. Another rank, or one beyond the job, ends its membership.
func TestSpareGetsOneRank(t *testing.T) {
	for name, c := range map[string]struct {
		ranks []int
		want  int // -1: the membership ends
	}{
		"a rank":            {[]int{2}, 2},
		"the rank repeated": {[]int{2, 2}, 2},
		"another rank":      {[]int{2, 0}, -1},
		"no rank":           {[]int{3}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			scripted(t, func(t *testing.T, s *scriptedServer) {
				cfg := s.config()
				cfg.OnLoss, cfg.Spare = protocol.Wait, true
				m, conn := s.member(cfg)
				for _, r := range c.ranks {
					conn.send(&protocol.AssignFrame{Rank: r})
				}
				if c.want < 0 {
					<-m.Over()
					if no, is := errors.AsType[*protocol.RefusedError](m.Cause()); !is || no.Code != protocol.Malformed {
						t.Errorf("the membership has ended by %v", m.Cause())
					}
					return
				}
				if rank, err := m.Assigned(t.Context()); err != nil || rank != c.want {
					t.Errorf("rank %d, %v, want %d", rank, err, c.want)
				}
			})
		})
	}
}

// The members of an elastic job are decided once. Another decision ends the membership.
func TestMembersAreDecidedOnce(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		cfg := s.config()
		cfg.OnLoss, cfg.Elastic = protocol.Shrink, time.Minute
		m, c := s.member(cfg)
		members := background(func() ([]int, error) { return m.Members(t.Context()) })
		c.send(&protocol.MembersFrame{Members: protocol.MembersWithout([]int{1})})
		live, err := members()
		if d := cmp.Diff([]int{0, 2}, live); d != "" || err != nil {
			t.Errorf("%v, members -want +got:\n%s", err, d)
		}
		if !m.Excluded() {
			t.Error("rank 1 is not excluded")
		}
		c.send(&protocol.MembersFrame{Members: protocol.MembersWithout([]int{1})})
		c.send(&protocol.MembersFrame{Members: protocol.MembersWithout([]int{2})})
		<-m.Over()
		if no, is := errors.AsType[*protocol.RefusedError](m.Cause()); !is || no.Code != protocol.AttemptFenced {
			t.Errorf("the membership has ended by %v", m.Cause())
		}
	})
}
