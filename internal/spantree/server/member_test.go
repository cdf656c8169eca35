// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

func TestJoinConfigReportsAllFaults(t *testing.T) {
	err := client.JoinConfig{
		Server: "gateway", Rank: 4, Total: 4, Advertise: "10.0.0.1", Heartbeat: -1,
		Job: protocol.Job{RunKey: strings.Repeat("x", 300)}, Options: strings.Repeat("x", 20_000),
	}.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, words := range []string{
		`server "gateway" is not host:port`, "rank is 4, want 0 to 3", `advertised address "10.0.0.1" is not host:port`,
		"Heartbeat is -1ns", "the run key has 300 bytes, the limit is 255", "Options has 20000 bytes, the limit is 16384",
	} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("%q does not say %q", err, words)
		}
	}
	if err := (client.JoinConfig{Server: "h:1"}).Validate(); err == nil || !strings.Contains(err.Error(), "total is 0") {
		t.Errorf("total 0: %v", err)
	}
}

// Four ranks run a job from Join to Finish, over real sockets.
func TestNativeJob(t *testing.T) {
	r := serveTCP(t, ServerConfig{Version: "server 1"})
	const n = 4
	tokens := make([]*client.Wiring, n)
	var all sync.WaitGroup
	for rank := range n {
		all.Go(func() {
			m, err := client.Join(t.Context(), r.config(protocol.Job{UniqueID: 7, RunKey: "run"}, rank, n))
			if err != nil {
				t.Error(err)
				return
			}
			defer func() {
				if err := m.Close(); err != nil {
					t.Errorf("rank %d: Close: %v", rank, err)
				}
			}()
			w, err := m.Ready(t.Context(), protocol.Shard{Examples: 10})
			if err != nil {
				t.Error(err)
				return
			}
			tokens[rank] = w
			owes := []string{fmt.Sprintf("p%d", rank)}
			if rank == 3 {
				owes = nil
			}
			finish(t, m, owes...)
			if err := m.Cause(); err != nil {
				t.Errorf("rank %d: the job has finished, and its cause is %v", rank, err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	want := &client.Wiring{
		Epoch: tokens[0].Epoch, Token: tokens[0].Token,
		Members: []int{0, 1, 2, 3},
	}
	for rank := range 4 {
		want.Peers.Append(protocol.Member{Rank: rank, Host: "127.0.0.1", Port: uint16(30_000 + rank)})
	}
	if want.Token == [16]byte{} || want.Epoch.Incarnation == 0 {
		t.Error("token or incarnation are zero")
	}
	for rank, w := range tokens {
		if d := cmp.Diff(want, w, cmp.AllowUnexported(protocol.MemberList{})); d != "" {
			t.Errorf("rank %d, -want +got:\n%s", rank, d)
		}
	}
	if s := r.s.Status(); len(s.Jobs) != 0 || s.Finished != 1 {
		t.Errorf("after the end: %+v", s)
	}
}

func TestModelsThatDiffer(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	members := r.wired(3)
	errs := make(chan error, 3)
	for rank, m := range members {
		go func() {
			_, err := m.Complete(t.Context(), sum(fmt.Sprint(rank/2)), nil)
			errs <- err
		}()
	}
	for range members {
		no := as[*protocol.RefusedError](t, <-errs)
		if no.Code != protocol.ServerFault || !strings.Contains(no.Reason, "the ranks hold different models: ranks 0, 1 hold 5feceb66ffc8, rank 2 6b86b273ff34") {
			t.Errorf("refused: %v", no)
		}
	}
}

// wired returns the members of a wired job of n ranks.
func (r *harness) wired(n int) []*client.Member {
	r.t.Helper()
	var all []*client.Member
	for rank := range n {
		all = append(all, r.member(r.config(protocol.Job{UniqueID: 1}, rank, n)))
	}
	var wait sync.WaitGroup
	for _, m := range all {
		wait.Go(func() {
			if _, err := m.Ready(r.t.Context(), protocol.Shard{}); err != nil {
				r.t.Error(err)
			}
		})
	}
	wait.Wait()
	if r.t.Failed() {
		r.t.FailNow()
	}
	return all
}

func TestEveryRankLearnsTheSameCause(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*client.Member) error
		want protocol.LostError
	}{
		{"gives up", func(m *client.Member) error { return m.Fail(t.Context(), "part.1:17: no label", "\xff") }, protocol.LostError{Why: "part.1:17: no label", GaveUp: true, Detail: "\xff"}},
		{"closes", (*client.Member).Close, protocol.LostError{Why: "it left: closed"}},
		{"vanishes", (*client.Member).Disconnect, protocol.LostError{Why: "connection closed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := serveTCP(t, ServerConfig{})
			members := r.wired(3)
			if err := c.end(members[1]); err != nil {
				t.Fatal(err)
			}
			c.want.Job, c.want.Rank, c.want.Host = protocol.Job{UniqueID: 1}, 1, "h1"
			for _, m := range []*client.Member{members[0], members[2]} {
				select {
				case <-m.Over():
				case <-time.After(patience):
					t.Fatal("a survivor does not get EPOCH_END")
				}
				if d := cmp.Diff(&c.want, as[*protocol.LostError](t, m.Cause())); d != "" {
					t.Errorf("-want +got:\n%s", d)
				}
				// All later calls return the cause, and not the error of the closed connection.
				if _, err := m.Complete(t.Context(), sum("m"), nil); err != m.Cause() {
					t.Errorf("Complete: %v", err)
				}
				if err := m.Finish(t.Context()); err != m.Cause() {
					t.Errorf("Finish: %v", err)
				}
				for range 2 {
					if err := m.Close(); err != nil {
						t.Errorf("Close: %v", err)
					}
				}
			}
		})
	}
}

// A rank that gives up before the start ends the job, so the others do not wait for it.
func TestFailBeforeTheStart(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	waits, fails := r.member(r.config(protocol.Job{UniqueID: 1}, 0, 3)), r.member(r.config(protocol.Job{UniqueID: 1}, 1, 3))
	done := make(chan error, 1)
	go func() {
		_, err := waits.Ready(t.Context(), protocol.Shard{})
		done <- err
	}()
	if err := fails.Fail(t.Context(), "cannot open part.1", ""); err != nil {
		t.Fatal(err)
	}
	if lost := as[*protocol.LostError](t, <-done); lost.Rank != 1 || lost.Why != "cannot open part.1" {
		t.Errorf("cause: %v", lost)
	}
}

func TestStartTimeoutNamesTheMissing(t *testing.T) {
	t.Parallel()
	r := serveTCP(t, ServerConfig{})
	cfg := r.config(protocol.Job{UniqueID: 1}, 0, 4)
	cfg.StartTimeout, cfg.Heartbeat = 3*time.Second, 20*time.Millisecond
	m := r.member(cfg)
	gone := r.vw(1, 4, 2)
	gone.reads("01000000")
	gone.close()
	r.logged("rank left before the start")
	_, err := m.Ready(t.Context(), protocol.Shard{})
	late := as[*protocol.StartError](t, err)
	for _, words := range []string{"1 of 4 ranks have joined, missing ranks 1-3", "rank 2 (127.0.0.1) left", "connection closed", "within 3s"} {
		if !strings.Contains(late.Error(), words) {
			t.Errorf("%q does not say %q", late, words)
		}
	}
	var timeout net.Error
	if errors.As(err, &timeout) && !timeout.Timeout() || !late.Timeout() {
		t.Error("it is no timeout")
	}
}

// Once all ranks have joined, Ready has no time limit: ranks may have much data to read.
func TestReadyWaitsForSlowReaders(t *testing.T) {
	simulate(t, ServerConfig{}, func(t *testing.T, n *mem.Network, _ *harness) {
		var all [2]*client.Member
		for rank := range all {
			cfg := simConfig(n, protocol.Job{UniqueID: 1}, rank, len(all))
			cfg.StartTimeout = time.Minute
			m, err := client.Join(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			all[rank] = m
		}
		done := make(chan error, 1)
		go func() {
			_, err := all[0].Ready(t.Context(), protocol.Shard{})
			done <- err
		}()
		time.Sleep(time.Hour)
		if _, err := all[1].Ready(t.Context(), protocol.Shard{}); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		closeAll(t, all[:])
	})
}

func TestReadyEndsWithItsContext(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	m := r.member(r.config(protocol.Job{UniqueID: 1}, 0, 2))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("SIGTERM"))
	if _, err := m.Ready(ctx, protocol.Shard{}); err == nil || err.Error() != "SIGTERM" {
		t.Errorf("Ready: %v, want the cause of the context's end", err)
	}
}

func TestJoinEndsWithItsContext(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("enough"))
	defer cancel()
	if _, err := client.Join(ctx, client.JoinConfig{Server: mute.Addr().String(), Total: 1}); err == nil || err.Error() != "enough" {
		t.Errorf("Join: %v, want the cause of the context's end", err)
	}
}

// The loss of the server does not end a running epoch. Calls that need the server return an error.
func TestServerGone(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	m := r.wired(1)[0]
	r.close()
	_, err := m.Complete(t.Context(), sum("m"), nil)
	if gone := as[*protocol.ServerError](t, err); gone.Server != r.addr || !strings.Contains(gone.Error(), "cannot complete the job with the server") {
		t.Errorf("Complete: %v", gone)
	}
	select {
	case <-m.Over():
		t.Error("the epoch is over")
	default:
	}
	if err := m.Fail(t.Context(), "x", ""); err == nil {
		t.Error("Fail without a server: no error")
	}
	if err := m.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestStatusShowsJobsAndRanks(t *testing.T) {
	r := serveTCP(t, ServerConfig{Version: "server 1"})
	cfg := r.config(protocol.Job{UniqueID: 7, RunKey: "run"}, 1, 3)
	cfg.Heartbeat, cfg.Options, cfg.Version = 10*time.Millisecond, "bits=18", "gvw 1"
	cfg.Waiting = func() client.Waits { return client.Waits{Text: "the server", Rank: -1} }
	m := r.member(cfg)
	m.Report(protocol.Progress{Pass: 2, Step: "gradient", Number: 5, Examples: 300, Loss: 0.25})
	r.vw(7, 3, 0).reads("01000000")
	var got *protocol.ServerStatus
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		var err error
		if got, err = client.Status(t.Context(), nil, r.addr, nil); err != nil {
			t.Fatal(err)
		}
		if len(got.Jobs) == 1 && len(got.Jobs[0].Ranks) == 2 && got.Jobs[0].Ranks[1].Steps > 0 || time.Now().After(end) {
			break
		}
	}
	got.Jobs[0].Seconds = 0
	got.Jobs[0].Ranks[1].Silent, got.Jobs[0].Ranks[1].Attempt = 0, 0
	want := &protocol.ServerStatus{Version: "server 1", Term: 1, Jobs: []protocol.JobStatus{{
		UniqueID: 7, RunKey: "run", State: "filling", Report: "2 of 3 ranks have joined, missing rank 2", VW: true, Total: 3, Joined: 2, Options: "bits=18",
		Ranks: []protocol.RankStatus{
			{Rank: 0, Host: "127.0.0.1", VW: true, State: "ready"},
			{
				Rank: 1, Host: "h1", Address: "127.0.0.1:30001", Version: "gvw 1", State: "joined", Waits: "the server",
				Pass: 2, Step: "gradient", Steps: 5, Examples: 300, Loss: 0.25,
			},
		},
	}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if _, err := client.Status(t.Context(), nil, "127.0.0.1:1", nil); err == nil || !strings.Contains(err.Error(), "cannot list the jobs with the server 127.0.0.1:1") {
		t.Errorf("no server: %v", err)
	}
}
