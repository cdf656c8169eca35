// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// steps is a StepTracker that records the epochs that were sealed.
type steps struct {
	mu     sync.Mutex
	at     Position
	sealed []protocol.Epoch
}

func (s *steps) Position() Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

func (s *steps) Seal(e protocol.Epoch) Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed = append(s.sealed, e)
	return s.at
}

// recovering returns the configuration of a rank of a job that recovers.
func (s *scriptedServer) recovering() (JoinConfig, *steps) {
	cfg, at := s.config(), &steps{at: Position{Completed: Point{epochOf(1), 4}, Work: true, WaitsFor: 2}}
	cfg.OnLoss, cfg.Steps = protocol.Wait, at
	return cfg, at
}

// EPOCH_END seals the epoch before the rank sends its position. Next then waits for another epoch.
func TestEpochEndSealsTheEpoch(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		cfg, at := s.recovering()
		m, w, c := s.wired(cfg)
		next := background(func() (*Wiring, error) { return m.Next(t.Context(), w) })
		c.send(&protocol.EpochEndFrame{Epoch: epochOf(1), Cause: protocol.Cause{Kind: protocol.CauseLost, Rank: 0, Host: "h0", Why: "silent"}})
		want := &protocol.PositionFrame{Epoch: epochOf(1), Completed: epochOf(1), Step: 4, Work: true, WaitsFor: 2}
		if d := cmp.Diff(want, receive[*protocol.PositionFrame](c)); d != "" {
			t.Errorf("POSITION, -want +got:\n%s", d)
		}
		if !slices.Equal(at.sealed, []protocol.Epoch{epochOf(1)}) {
			t.Errorf("the sealed epochs are %v", at.sealed)
		}
		<-m.Ended(w)
		if lost, is := errors.AsType[*protocol.LostError](m.EndOf(w)); !is || lost.Rank != 0 || m.Cause() != nil {
			t.Errorf("the epoch has ended by %v, the job by %v", m.EndOf(w), m.Cause())
		}
		start := startOf(2, 0, 1, 2)
		start.ResumeEpoch, start.ResumeStep = epochOf(1), 5
		start.Missing = []protocol.Missing{{Rank: 1, Source: 2, Payload: protocol.PayloadResults}, {Rank: 0, Source: 1, Payload: protocol.PayloadState}}
		c.send(start)
		w2, err := next()
		if err != nil {
			t.Fatal(err)
		}
		if w2.Resume != (Point{epochOf(1), 5}) || w2.Missing == nil || w2.Missing.Address != "h2:30002" || len(w2.Owed) != 1 || w2.Owed[0].Rank != 0 {
			t.Errorf("the next epoch is %+v", w2)
		}
		if lost, is := errors.AsType[*protocol.LostError](m.EndOf(w)); !is || lost.Rank != 0 {
			t.Errorf("the end of the epoch before is %v now", m.EndOf(w))
		}
	})
}

// A member that loses its server joins again with its epoch, its token and its position, and sends
// what a restarted server has forgotten: READY, COMPLETE with the files that are still owed, and
// each DELIVERED. A POSITION of an earlier epoch is not among it.
func TestReplayForARestartedServer(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		cfg, _ := s.recovering()
		m, w, c := s.wired(cfg)
		c.send(&protocol.EpochEndFrame{Epoch: epochOf(1), Cause: protocol.Cause{Kind: protocol.CauseLost, Rank: 0}})
		receive[*protocol.PositionFrame](c)
		c.send(startOf(2, 0, 1, 2))
		if _, err := m.Next(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		complete := background(func() ([]string, error) { return m.Complete(t.Context(), [32]byte{1}, []string{"model", "log"}) })
		receive[*protocol.CompleteFrame](c)
		c.send(&protocol.DeliverFrame{Epoch: epochOf(2), Files: []string{"log"}})
		if _, err := complete(); err != nil {
			t.Fatal(err)
		}
		if err := m.Delivered(t.Context(), "log", [32]byte{2}); err != nil {
			t.Error(err)
		}
		receive[*protocol.DeliveredFrame](c)
		_ = c.conn.Close()

		s.incarnation++
		c, join := s.join()
		if join.Attempt != 99 || join.Epoch != epochOf(2) || join.Token != [16]byte{2} || join.Completed != epochOf(1) || join.Step != 4 || join.State != protocol.StateComplete {
			t.Errorf("JOIN is %+v", join)
		}
		receive[*protocol.ReadyFrame](c)
		if f := receive[*protocol.CompleteFrame](c); !slices.Equal(f.Owed, []string{"log"}) || f.Epoch != epochOf(2) {
			t.Errorf("COMPLETE is %+v", f)
		}
		receive[*protocol.DeliveredFrame](c)
		c.send(&protocol.EpochEndFrame{Epoch: epochOf(2), Final: true, Cause: protocol.Cause{Kind: protocol.CauseLost, Rank: 2}})
		<-m.Over()
		if lost, is := errors.AsType[*protocol.LostError](m.Cause()); !is || !lost.ServerRestarted {
			t.Errorf("the job has ended by %+v, want a *LostError with ServerRestarted", m.Cause())
		}
	})
}

// A frame over its limits is an error at once, and is not replayed.
func TestNoReplayOfAFrameOverItsLimits(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		cfg, _ := s.recovering()
		m, _, c := s.wired(cfg)
		within, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := m.Complete(within, [32]byte{1}, make([]string, protocol.MaxFiles+1)); err == nil || within.Err() != nil {
			t.Errorf("Complete with too many files returned %v", err)
		}
		_ = c.conn.Close()
		c, _ = s.join()
		receive[*protocol.ReadyFrame](c)
		fail := failing(func() error { return m.Fail(t.Context(), "it owes too many files", "") })
		receive[*protocol.FailFrame](c)
		c.send(&protocol.FinishedFrame{Epoch: epochOf(1)})
		if err := fail(); err != nil {
			t.Error(err)
		}
	})
}

// A COMPLETE of an epoch of more ranks does not count. It is sent again for the epoch of fewer.
func TestCompleteIsRepeatedForFewerRanks(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		cfg, _ := s.recovering()
		cfg.OnLoss = protocol.Shrink
		m, _, c := s.wired(cfg)
		complete := background(func() ([]string, error) { return m.Complete(t.Context(), [32]byte{1}, nil) })
		receive[*protocol.CompleteFrame](c)
		c.send(startOf(2, 1, 2))
		if f := receive[*protocol.CompleteFrame](c); f.Epoch != epochOf(2) || f.Model != [32]byte{1} {
			t.Errorf("COMPLETE is %+v", f)
		}
		c.send(&protocol.DeliverFrame{Epoch: epochOf(2)})
		if _, err := complete(); err != nil {
			t.Error(err)
		}
	})
}

// A reconnected attempt that the server refuses has lost its membership, unless the run has finished.
func TestRefusalOfAReconnection(t *testing.T) {
	for name, code := range map[string]protocol.Code{"fenced": protocol.AttemptFenced, "finished": protocol.JobFinished} {
		t.Run(name, func(t *testing.T) {
			scripted(t, func(t *testing.T, s *scriptedServer) {
				cfg, _ := s.recovering()
				m, w, c := s.wired(cfg)
				_ = c.conn.Close()
				c = s.accept()
				receive[*protocol.JoinFrame](c)
				c.send(&protocol.RefusedFrame{Code: code, Reason: "over", Model: [32]byte{9}})
				_ = c.conn.Close()
				for range 10 { // a refusal without authentication must be repeated
					synctest.Wait()
					if m.EndOf(w) != nil {
						break
					}
					c = s.accept()
					receive[*protocol.JoinFrame](c)
					c.send(&protocol.RefusedFrame{Code: code, Reason: "over", Model: [32]byte{9}})
					_ = c.conn.Close()
				}
				<-m.Ended(w)
				if code == protocol.JobFinished {
					if done, is := errors.AsType[*protocol.FinishedError](m.EndOf(w)); !is || done.Model != [32]byte{9} || m.Cause() != nil {
						t.Errorf("the epoch has ended by %v, the job by %v", m.EndOf(w), m.Cause())
					}
					return
				}
				if no, is := errors.AsType[*protocol.RefusedError](m.Cause()); !is || no.Code != code {
					t.Errorf("the job has ended by %v", m.Cause())
				}
			})
		})
	}
}

// A member of a job that does not recover continues without its server, and fails at the end at
// once.
func TestNoReconnectionWithoutRecovery(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		m, w, c := s.wired(s.config())
		_ = c.conn.Close()
		synctest.Wait()
		if _, is := errors.AsType[*protocol.ServerError](m.ServerErr()); !is || m.EndOf(w) != nil || m.Cause() != nil {
			t.Errorf("the server is lost by %v, the epoch has ended by %v, the job by %v", m.ServerErr(), m.EndOf(w), m.Cause())
		}
		began := time.Now()
		_, err := m.Complete(t.Context(), [32]byte{}, nil)
		if _, is := errors.AsType[*protocol.ServerError](err); !is || time.Since(began) != 0 {
			t.Errorf("Complete failed after %v by %v", time.Since(began), err)
		}
	})
}

// A silent server is given up after the silence that the job allows: LostAfter where a rank
// reconnects, else ServerTimeout.
func TestSilentServer(t *testing.T) {
	for name, policy := range map[string]protocol.OnLoss{"recovers": protocol.Wait, "does not recover": protocol.Abort} {
		t.Run(name, func(t *testing.T) {
			scripted(t, func(t *testing.T, s *scriptedServer) {
				cfg, _ := s.recovering()
				cfg.OnLoss, cfg.ServerTimeout = policy, time.Minute
				m, _, c := s.wired(cfg)
				began, limit := time.Now(), cfg.ServerTimeout
				for { // the server reads, and answers nothing
					if _, err := c.frames.Next(); err != nil {
						break
					}
				}
				if policy == protocol.Wait {
					limit = cfg.LostAfter
					s.join()
				}
				if took := time.Since(began); took < limit || took > limit+2*time.Second {
					t.Errorf("the server was given up after %v, want %v", took, limit)
				}
				if gone := m.ServerErr() != nil; gone != (policy == protocol.Abort) {
					t.Errorf("the server is lost for good: %v", m.ServerErr())
				}
			})
		})
	}
}

// A server that answers each heartbeat is not given up, however long their interval is. The server raises a lost_after
// that is below two intervals.
func TestRareHeartbeats(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		cfg, _ := s.recovering()
		cfg.Heartbeat = 15 * time.Second
		joined := background(func() (*Member, error) { return Join(t.Context(), cfg) })
		c := s.accept()
		f := receive[*protocol.JoinFrame](c)
		c.send(&protocol.JoinedFrame{Attempt: f.Attempt, LostAfter: 30 * time.Second, Joined: 3})
		m, err := joined()
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for range 4 {
			c.send(&protocol.HeartbeatAckFrame{Seq: c.heartbeat().Seq})
		}
		began := time.Now() // from now on the server is silent
		for {
			if _, err := c.frames.Next(); err != nil {
				break
			}
		}
		if took := time.Since(began); took != 45*time.Second {
			t.Errorf("the server was given up after %v, want the third heartbeat without an answer", took)
		}
	})
}

// lateNetwork is a network on which one write after late is set does not complete: half of its bytes reach the server
// before its deadline.
type lateNetwork struct {
	transport.Network
	late atomic.Bool
}

func (n *lateNetwork) Dial(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := n.Network.Dial(ctx, addr)
	return &lateConn{conn, n}, err
}

type lateConn struct {
	net.Conn
	n *lateNetwork
}

func (c *lateConn) Write(b []byte) (int, error) {
	if !c.n.late.Swap(false) {
		return c.Conn.Write(b)
	}
	n, err := c.Conn.Write(b[:len(b)/2])
	if err == nil {
		err = os.ErrDeadlineExceeded
	}
	return n, err
}

// A write that does not complete in time may leave a part of a frame. The connection ends with it, so that
// the server never takes the next frame for the rest of that one.
func TestLateWriteEndsTheConnection(t *testing.T) {
	for name, policy := range map[string]protocol.OnLoss{"recovers": protocol.Wait, "does not recover": protocol.Abort} {
		t.Run(name, func(t *testing.T) {
			scripted(t, func(t *testing.T, s *scriptedServer) {
				cfg, _ := s.recovering()
				n := &lateNetwork{Network: cfg.Network}
				cfg.OnLoss, cfg.Network = policy, n
				m, _, c := s.wired(cfg)
				n.late.Store(true) // the next heartbeat
				_ = c.conn.SetReadDeadline(time.Now().Add(5 * time.Second))
				if b, err := io.ReadAll(c.conn); len(b) == 0 || err != nil {
					t.Fatalf("the server reads %d bytes and %v, want half a heartbeat and the end of the connection", len(b), err)
				}
				if policy == protocol.Abort {
					if err := m.ServerErr(); !errors.Is(err, os.ErrDeadlineExceeded) {
						t.Errorf("the server is lost by %v", err)
					}
					return
				}
				c, join := s.join()
				if join.Attempt != 99 || join.Epoch != epochOf(1) {
					t.Errorf("JOIN is %+v", join)
				}
				receive[*protocol.ReadyFrame](c)
			})
		})
	}
}

// The lease is half of LostAfter long, from the time at which an acknowledged heartbeat was sent.
func TestLease(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		m, c := s.member(s.config())
		began := time.Now()
		if err := m.Lease(t.Context()); err != nil {
			t.Errorf("after the join: %v", err)
		}
		for time.Since(began) < 5*time.Second { // heartbeats without an answer
			c.heartbeat()
		}
		lease := failing(func() error { return m.Lease(t.Context()) })
		synctest.Wait()
		beat := c.heartbeat()
		c.send(&protocol.HeartbeatAckFrame{Seq: beat.Seq - 100}) // of a heartbeat that was never sent
		synctest.Wait()
		c.send(&protocol.HeartbeatAckFrame{Seq: beat.Seq})
		acked := time.Now()
		if err := lease(); err != nil || time.Now() != acked {
			t.Errorf("%v after the acknowledgement: %v", time.Since(acked), err)
		}
	})
}

// The lease counts from the time at which JOIN was sent, and the server decides its length.
func TestLeaseOfAJoin(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		joined := background(func() (*Member, error) { return Join(t.Context(), s.config()) })
		c := s.accept()
		f := receive[*protocol.JoinFrame](c)
		sent := time.Now()
		time.Sleep(time.Second) // the server is slow
		c.send(&protocol.JoinedFrame{Attempt: f.Attempt, LostAfter: 4 * time.Second, Joined: 3})
		m, err := joined()
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if err := m.Lease(t.Context()); err != nil {
			t.Errorf("after the join: %v", err)
		}
		time.Sleep(time.Until(sent.Add(2 * time.Second)))
		within, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := m.Lease(within); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("2 s after JOIN, with a lost_after of 4 s: %v", err)
		}
	})
}

// When the job has ended for this rank, there is no lease, however new the newest acknowledgement is.
func TestNoLeaseAfterTheEnd(t *testing.T) {
	end := &protocol.EpochEndFrame{Epoch: epochOf(1), Final: true, Cause: protocol.Cause{Kind: protocol.CauseLost, Rank: 2, Host: "h2", Why: "silent for 10s"}}
	for name, frames := range map[string][]protocol.Frame{
		"EPOCH_END":                    {end},
		"EPOCH_END before its VERDICT": {&protocol.CollectFrame{Number: 1, Verdict: time.Second}, end},
		"FENCED":                       {&protocol.FencedFrame{Epoch: epochOf(1), Reason: "evicted"}},
	} {
		t.Run(name, func(t *testing.T) {
			scripted(t, func(t *testing.T, s *scriptedServer) {
				m, _, c := s.wired(s.config())
				for _, f := range frames {
					c.send(f)
				}
				synctest.Wait()
				if err := m.Lease(t.Context()); err == nil || !errors.Is(err, m.Cause()) {
					t.Errorf("Lease returned %v, and the job has ended by %v", err, m.Cause())
				}
			})
		})
	}
}

// An attempt that was replaced while it had no connection, and whose job has finished meanwhile, gets no lease. No
// acknowledgement will follow, so Lease does not wait for one.
func TestNoLeaseAfterAReplacementHasFinished(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		cfg, _ := s.recovering()
		m, w, c := s.wired(cfg)
		time.Sleep(cfg.LostAfter / 2) // the lease of JOIN ends
		_ = c.conn.Close()
		s.incarnation++
		lease := failing(func() error {
			within, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			return m.Lease(within)
		})
		for m.EndOf(w) == nil { // a refusal without authentication must be repeated
			c = s.accept()
			receive[*protocol.JoinFrame](c)
			c.send(&protocol.RefusedFrame{Code: protocol.JobFinished, Reason: "over", Model: [32]byte{9}})
			_ = c.conn.Close()
			synctest.Wait()
		}
		err := lease()
		if done, is := errors.AsType[*protocol.FinishedError](err); !is || done.Model != [32]byte{9} {
			t.Errorf("Lease returned %v, want a *FinishedError", err)
		}
	})
}

// A heartbeat carries what the rank waits for, and a report follows it once for each progress.
func TestHeartbeatsCarryWaitsAndProgress(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		cfg := s.config()
		cfg.Waiting = func() Waits { return Waits{Text: "all-reduce #3", Rank: 2, Collective: 3} }
		m, _, c := s.wired(cfg)
		m.Report(protocol.Progress{Pass: 1, Number: 5})
		beat := c.heartbeat()
		if beat.Waits != "all-reduce #3" || beat.WaitsFor != 2 || beat.Collective != 3 || beat.Epoch != epochOf(1) {
			t.Errorf("the heartbeat is %+v", beat)
		}
		if f := receive[*protocol.ReportFrame](c); f.Progress.Number != 5 || f.Epoch != epochOf(1) {
			t.Errorf("REPORT is %+v", f)
		}
		if seq := c.heartbeat().Seq; seq != beat.Seq+1 {
			t.Errorf("heartbeat %d follows %d", seq, beat.Seq)
		}
		c.heartbeat() // without another report
	})
}

// An ASK is acknowledged within a second, or not at all.
func TestAsk(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		m, w, c := s.wired(s.config())
		for name, acked := range map[string]bool{"acknowledged": true, "not acknowledged": false} {
			began := time.Now()
			ask := background(func() (bool, error) {
				return m.Ask(t.Context(), 2, 8, protocol.EdgeStalls, "no byte for 5 s"), nil
			})
			f := receive[*protocol.AskFrame](c)
			if f.Peer != 2 || f.Collective != 8 || f.Fault != protocol.EdgeStalls || f.Epoch != w.Epoch || f.Detail != "no byte for 5 s" {
				t.Errorf("ASK is %+v", f)
			}
			want := askTimeout
			c.send(&protocol.AskAckFrame{Epoch: w.Epoch, Peer: 0}) // of another edge
			if acked {
				c.send(&protocol.AskAckFrame{Epoch: w.Epoch, Peer: 2})
				want = 0
			}
			if got, _ := ask(); got != acked || time.Since(began) > want {
				t.Errorf("%s: %v after %v, want %v after %v", name, got, time.Since(began), acked, want)
			}
		}
	})
}
