// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

func sum(s string) [32]byte { return sha256.Sum256([]byte(s)) }

// works runs a vw job of two ranks. It shows that the server still serves other
// clients after the events of a test.
func (r *harness) works(unique uint64) {
	r.t.Helper()
	a, b := r.vw(unique, 2, 0), r.vw(unique, 2, 1)
	a.reads("01000000 0000")
	b.reads("01000000 0100")
	a.write([]byte{0x67, 0xb0})
	b.write([]byte{0x67, 0xb1})
	a.reads("7f000001 67b1")
	b.reads("ffffffff ffffffff")
	a.ends()
	b.ends()
}

// The comments describe the behaviour of vw's own server (spanning_tree.cc) in
// each case. The numbers of the failures are those of docs/faults.md.

// Failure 1: vw's server exits with "nonce read failed", and all jobs are lost.
func TestPortScanHarmsNoClient(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	waiting := r.vw(1, 2, 0)
	waiting.reads("01000000")
	r.dial().close()
	half := r.dial()
	half.write(make([]byte, 13))
	half.close()
	reset := r.dial()
	if err := reset.c.(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	reset.close()
	r.logged("13 of the 24 bytes of a registration")
	other := r.vw(1, 2, 1)
	other.reads("01000000 0100")
	waiting.reads("0000")
	r.works(2)
}

// Failure 2: vw's server serves no other client until the silent one disconnects.
func TestSilentClientDelaysNoClient(t *testing.T) {
	t.Parallel()
	serve := func(limit time.Duration) (*harness, []*peer) {
		r := serveTCP(t, ServerConfig{HandshakeTimeout: limit})
		silent, hello, slow := r.dial(), r.native(), r.dial()
		slow.write([]byte{1, 0, 0})
		return r, []*peer{silent, hello, slow}
	}
	r, _ := serve(time.Hour) // the limit is that of the healthy workers too
	r.works(1)
	r, all := serve(3 * time.Second)
	for _, p := range all {
		p.ends()
	}
	r.logged("nothing more within 3s")
}

// Failure 3: vw's server answers ok=0 and leaves the connection open forever.
func TestSameRankTwice(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	first := r.vw(1, 2, 0)
	first.reads("01000000")
	second := r.vw(1, 2, 0)
	second.reads("00000000")
	second.ends()
	native := r.join(&protocol.JoinFrame{UniqueID: 1, Total: 2, Rank: 0})
	if no := next[*protocol.RefusedFrame](native); no.Code != protocol.RankHeld || !strings.Contains(no.Reason, "held by another attempt, on 127.0.0.1") {
		t.Errorf("refused for %v: %s", no.Code, no.Reason)
	}
	native.ends()
	r.vw(1, 2, 1).reads("01000000 0100")
	first.reads("0000")
}

// Failure 4: vw's server never frees the rank of a worker that died while it waited.
func TestRestartedWorkerGetsItsRank(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	dies := r.vw(1, 2, 0)
	dies.reads("01000000")
	stays := r.vw(1, 2, 1)
	stays.reads("01000000 0100")
	dies.close()
	r.logged("rank left before the start")
	again := r.vw(1, 2, 0)
	again.reads("01000000 0000")
	again.write([]byte{0, 1})
	stays.write([]byte{0, 2})
	again.reads("7f000001 0002")
	stays.reads("ffffffff ffffffff")
}

// Failure 5: SIGPIPE kills vw's server, and the other workers read the end of the stream.
func TestWorkerDeadAtWiringIsReplaced(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	a, b, c := r.vw(1, 3, 0), r.vw(1, 3, 1), r.vw(1, 3, 2)
	a.reads("01000000 0000")
	b.reads("01000000 0200")
	c.close() // before it has sent its port
	a.write([]byte{0, 1})
	b.write([]byte{0, 2})
	r.logged("rank left before the start")
	r.works(2)
	again := r.vw(1, 3, 2)
	again.reads("01000000 0000")
	again.write([]byte{0, 3})
	for _, p := range []*peer{a, again} {
		p.reads("7f000001 0002")
	}
	b.reads("ffffffff ffffffff")
}

// Failure 5, with a worker that remains connected and silent.
func TestWorkerSilentAtWiringIsGivenUp(t *testing.T) {
	t.Parallel()
	r := serveTCP(t, ServerConfig{PortTimeout: 3 * time.Second}) // for the healthy workers too
	a := r.vw(1, 2, 0)
	a.reads("01000000")
	b := r.vw(1, 2, 1)
	b.reads("01000000 0100")
	a.reads("0000")
	b.write([]byte{0, 2})
	a.ends()
	r.logged("it has not sent its port within 3s")
	again := r.vw(1, 2, 0)
	again.reads("01000000 0000")
	again.write([]byte{0, 3})
	again.reads("7f000001 0002")
	b.reads("ffffffff ffffffff")
}

// Failure 6: vw's server crashes in log(0), by a failed calloc, or by a write at
// an index that the client chooses.
func TestImpossibleTotals(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	first := r.vw(1, 2, 0)
	first.reads("01000000")
	for _, c := range []struct{ total, rank uint64 }{
		{0, 0},
		{1 << 40, 5},
		{1<<64 - 1, 1<<64 - 2},
		{100, 50}, // differs from the job's total
		{1, 0},
	} {
		p := r.vw(1, c.total, c.rank)
		p.reads("00000000")
		p.ends()
	}
	r.vw(1, 2, 1).reads("01000000 0100")
	first.reads("0000")
}

// Failure 7: vw's server keeps an empty job with the total of the refused client.
func TestRankOutOfBoundsLeavesNothingBehind(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	p := r.vw(7, 5, 5)
	p.reads("00000000")
	p.ends()
	if jobs := r.s.Status().Jobs; len(jobs) != 0 {
		t.Errorf("jobs are left: %+v", jobs)
	}
	r.works(7) // with another total
}

// Failures 8 and 9: a worker is killed or stopped during the job. vw's server has
// no connection to workers then, so the others wait forever. This server sends
// the loss to all of them.
func TestOthersLearnOfAKilledAndOfAStoppedRank(t *testing.T) {
	t.Parallel()
	// On a busy machine, too, only a stopped rank is silent for too long.
	for how, lostAfter := range map[string]time.Duration{"killed": time.Hour, "stopped": 5 * time.Second} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := serveTCP(t, ServerConfig{})
			cfg := r.config(protocol.Job{UniqueID: 1}, 0, 2)
			cfg.LostAfter = time.Hour
			lives := r.member(cfg)
			victim := r.join(&protocol.JoinFrame{UniqueID: 1, Rank: 1, Total: 2, Host: "h1", Port: 1, Heartbeat: 50 * time.Millisecond, LostAfter: lostAfter})
			victim.send(&protocol.ReadyFrame{})
			if _, err := lives.Ready(t.Context(), protocol.Shard{}); err != nil {
				t.Fatal(err)
			}
			why := "connection closed"
			if how == "killed" {
				next[*protocol.EpochStartFrame](victim)
				victim.close()
			} else {
				why = "silent for"
			}
			select {
			case <-lives.Over():
			case <-time.After(patience):
				t.Fatal("the survivor does not get EPOCH_END")
			}
			lost := as[*protocol.LostError](t, lives.Cause())
			if lost.Rank != 1 || lost.Host != "h1" || !strings.Contains(lost.Why, why) {
				t.Errorf("cause: %v", lost)
			}
		})
	}
}

// Failures 10 and 11: vw workers with different -b hang; with different --passes
// one of them writes a corrupt model. This server refuses a rank with other
// options, and names the difference.
func TestOptionsThatDiffer(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	cfg := r.config(protocol.Job{UniqueID: 1}, 0, 2)
	cfg.Options = "bits=18 loss=logistic passes=3"
	r.member(cfg)
	cfg.Rank, cfg.Options = 1, "bits=18 loss=logistic passes=4"
	_, err := client.Join(t.Context(), cfg)
	if no := as[*protocol.RefusedError](t, err); no.Code != protocol.OptionsDiffer || !strings.Contains(no.Reason, "passes=4 here, passes=3 there") {
		t.Errorf("refused: %v", no)
	}
}

// Failure 12: there is no server. vw tries 100 times, once a second, and so does Join.
func TestNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	synctest.Test(t, func(t *testing.T) { // the time stands still during an attempt
		_, err := client.Join(t.Context(), client.JoinConfig{Server: addr, Total: 1, DialTimeout: 9500 * time.Millisecond})
		e := as[*protocol.ServerError](t, err)
		for _, words := range []string{addr, "tried 10 times", "is spanning_tree running there?", "connection refused"} {
			if !strings.Contains(e.Error(), words) {
				t.Errorf("%q does not say %q", e, words)
			}
		}
	})
}

// Join finds a server that starts later. If another process takes the port
// meanwhile, the test uses another port.
func TestServerThatStartsLater(t *testing.T) {
	for range 5 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := l.Addr().String()
		l.Close()
		ctx, cancel := context.WithCancel(t.Context())
		joined := make(chan error, 1)
		go func() {
			m, err := client.Join(ctx, client.JoinConfig{Server: addr, Total: 1, DialTimeout: patience})
			if err == nil {
				err = m.Close()
			}
			joined <- err
		}()
		time.Sleep(50 * time.Millisecond)
		l, err = net.Listen("tcp", addr)
		if err != nil {
			cancel()
			<-joined
			continue
		}
		serveOn(t, ServerConfig{}, l)
		select {
		case err := <-joined:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("Join does not return")
		}
		cancel()
		return
	}
	t.Fatal("five ports in a row were taken")
}

// The number of clients is not limited by the size of select()'s descriptor sets.
func TestManyClients(t *testing.T) {
	t.Parallel()
	const n = 300
	r := serveTCP(t, ServerConfig{})
	var all []*peer
	for rank := range uint64(n) {
		all = append(all, r.vw(1, n, rank))
	}
	for rank, p := range all {
		p.reads("01000000")
		p.reads(fmt.Sprintf("%02x00", vwKids(n, rank)))
		p.write([]byte{byte(rank >> 8), byte(rank)})
	}
	roots := 0
	for rank, p := range all {
		parent := vwParent(n, rank)
		if parent < 0 {
			roots++
			p.reads("ffffffff ffffffff")
			continue
		}
		p.reads(fmt.Sprintf("7f000001 %04x", parent))
	}
	if roots != 1 {
		t.Errorf("%d roots", roots)
	}
}
