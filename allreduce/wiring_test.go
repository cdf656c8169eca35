// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
)

// walled is a network on which other ranks cannot be reached.
type walled struct{ transport.Network }

func (walled) Dial(context.Context, string) (net.Conn, error) {
	return nil, errors.New("no route to host")
}

// TestWiringNamesTheMissing checks that neighbours that cannot reach each other name each other
// within DialTimeout.
func TestWiringNamesTheMissing(t *testing.T) {
	inBubble(t, 3, Config{DialTimeout: 5 * time.Second}, func(t *testing.T, j *testJob, _ *mem.Network) {
		j.reroute(2, func(n transport.Network) transport.Network { return walled{n} })
		start := time.Now()
		errs := j.all(func(rank int) error { return j.groups[rank].Ready(ctx, Shard{}) })
		if errs[0] != nil {
			t.Errorf("rank 0, which is connected: %v", errs[0])
		}
		for rank := 1; rank <= 2; rank++ {
			// Each names the missing rank, or has received the other's report first.
			if err := errs[rank]; err == nil || !strings.Contains(err.Error(), "waiting for [rank 2 (h2:") && !strings.Contains(err.Error(), "waiting for [rank 1 (h1:") ||
				!strings.Contains(err.Error(), "no answer within 5s") || strings.Contains(err.Error(), "it left") {
				t.Errorf("rank %d: got %v", rank, err)
			}
			if again := j.groups[rank].Barrier(ctx); again == nil || again.Error() != errs[rank].Error() {
				t.Errorf("rank %d, once more: got %v", rank, again)
			}
		}
		if took := time.Since(start); took > 6*time.Second {
			t.Errorf("it took %v", took)
		}
		if log := j.logs[2].String(); !strings.Contains(log, "cannot reach the parent") || !strings.Contains(log, "no route to host") {
			t.Errorf("the log of rank 2 does not say why:\n%s", log)
		}
	})
}

// TestCloseDuringWiring checks that Close in another goroutine ends Ready, while its connections open and
// while it agrees with the other ranks, with ErrClosed.
func TestCloseDuringWiring(t *testing.T) {
	for _, onLoss := range []OnLoss{Abort, Wait} {
		for _, opens := range []bool{false, true} {
			inBubble(t, 2, Config{OnLoss: onLoss, Transport: TransportAuto}, func(t *testing.T, j *testJob, _ *mem.Network) {
				if !opens {
					j.reroute(0, func(n transport.Network) transport.Network { return walled{n} })
				}
				g := j.groups[0]
				closed := make(chan struct{})
				errs := j.all(func(rank int) error {
					switch {
					case rank == 0:
						time.AfterFunc(10*time.Second, func() { g.Close(); close(closed) })
						return g.Ready(ctx, Shard{})
					case opens: // it opens its connections, and agrees to nothing
						w, err := j.groups[1].member.Ready(ctx, Shard{})
						if err == nil {
							j.groups[1].enterEpoch(w)
							err = j.groups[1].epoch.Connect(ctx)
						}
						return err
					}
					short, cancel := context.WithTimeout(ctx, 15*time.Second)
					defer cancel()
					return j.groups[1].Ready(short, Shard{})
				})
				<-closed
				if !errors.Is(errs[0], ErrClosed) {
					t.Errorf("on_loss %v, connections open %v: got %v, want ErrClosed", onLoss, opens, errs[0])
				}
			})
		}
	}
}

// TestCloseDuringReady checks that Close in another goroutine ends Ready and Members, which wait for a missing rank, with
// ErrClosed.
func TestCloseDuringReady(t *testing.T) {
	for _, cfg := range []Config{{}, {OnLoss: Wait}, {OnLoss: Shrink, Elastic: true}} {
		synctest.Test(t, func(t *testing.T) {
			n := mem.New()
			cfg.Server, cfg.Total, cfg.Network = startServer(t, n.Host("server"), "server:26543"), 2, n.Host("h0")
			cfg.Job.RunKey = "run"
			g, err := Join(ctx, cfg)
			if err != nil {
				t.Fatal(err)
			}
			closed := make(chan error, 1)
			time.AfterFunc(time.Second, func() { closed <- g.Close() })
			if cfg.Elastic {
				_, err = g.Members(ctx)
			} else {
				err = g.Ready(ctx, Shard{})
			}
			if err != ErrClosed {
				t.Errorf("on_loss %v: got %v, want ErrClosed", cfg.OnLoss, err)
			}
			if err := <-closed; err != nil {
				t.Errorf("on_loss %v: Close: %v", cfg.OnLoss, err)
			}
		})
	}
}

// TestCloseBeforeWiring checks that Ready returns ErrClosed if Close came between the start of the epoch and the
// opening of its connections, whether the server answers Close or not. The bubble fails if a goroutine of the epoch is
// left.
func TestCloseBeforeWiring(t *testing.T) {
	for _, onLoss := range []OnLoss{Abort, Wait} {
		for _, silent := range []bool{false, true} {
			inBubble(t, 2, Config{OnLoss: onLoss}, func(t *testing.T, j *testJob, n *mem.Network) {
				started := make(chan struct{}) // on rank 1, which otherwise may find the epoch ended before its Ready returns
				errs := j.all(func(rank int) error {
					g := j.groups[rank]
					w, err := g.member.Ready(ctx, Shard{})
					if rank == 1 {
						close(started)
					}
					if err != nil || rank == 1 {
						return err
					}
					<-started
					n.Part("h0", "server", silent)
					defer n.Part("h0", "server", false)
					if err := g.Close(); err != nil {
						return err
					}
					g.enterEpoch(w)
					return g.connect(ctx)
				})
				j.groups[0] = nil // a second Close would end the epoch
				if errs[0] != ErrClosed || errs[1] != nil {
					t.Errorf("on_loss %v, silent server %v: got %v, want ErrClosed on rank 0", onLoss, silent, errs)
				}
			})
		}
	}
}

// TestLossDuringWiring checks that a rank that is lost before the edges are open is named too.
func TestLossDuringWiring(t *testing.T) {
	inBubble(t, 3, Config{}, func(t *testing.T, j *testJob, n *mem.Network) {
		j.reroute(2, func(n transport.Network) transport.Network { return walled{n} })
		time.AfterFunc(3*time.Second, func() { j.groups[2].Fail(ctx, errors.New("the cable is out")) })
		c, cancel := context.WithTimeout(ctx, 4*time.Second)
		defer cancel()
		errs := j.all(func(rank int) error {
			if rank == 2 {
				return j.groups[rank].Ready(c, Shard{})
			}
			if err := j.groups[rank].Ready(ctx, Shard{}); err != nil {
				return err
			}
			return j.groups[rank].Barrier(ctx)
		})
		for rank, err := range errs[:2] {
			if err == nil || !strings.Contains(err.Error(), "the cable is out") {
				t.Errorf("rank %d: got %v", rank, err)
			}
		}
	})
}

func TestAdvertise(t *testing.T) {
	at := &net.TCPAddr{IP: net.IPv6unspecified, Port: 4711}
	for advertise, want := range map[string]string{
		"":            ":4711",
		"h7":          "h7:4711",
		"h7:80":       "h7:80",
		"::1":         "[::1]:4711",
		"10.0.0.1":    "10.0.0.1:4711",
		"[fe80::1]:9": "[fe80::1]:9",
		"[fd00::1]":   "[fd00::1]:4711",
		"127.0.0.0/8": "127.0.0.1:4711",
	} {
		got, err := address.Advertise(advertise, at, address.Machine)
		if err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", advertise, got, err, want)
		}
	}
	// A rank that listens at a single address is reached only there.
	at = &net.TCPAddr{IP: net.IPv4(10, 0, 0, 3), Port: 4711}
	if got, err := address.Advertise("", at, address.Machine); err != nil || got != "10.0.0.3:4711" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, c := range []Config{{Listen: "h"}, {Listen: ":9-1"}, {Advertise: "10/8"}, {Advertise: "h:1-2"}} {
		c.Server, c.Total = "s:1", 1
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "allreduce: ") {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

func TestLongRecordsAreRefused(t *testing.T) {
	g := Local()
	if _, err := g.AllGatherV(ctx, nil, make([]byte, MaxRecord+1)); err == nil || !strings.Contains(err.Error(), "65537 bytes, the limit is 65536") {
		t.Errorf("got %v", err)
	}
}

func TestJoinRefusesNonsense(t *testing.T) {
	if _, err := Join(ctx, Config{}); err == nil {
		t.Error("no server, no total: got no error")
	}
	n := mem.New()
	_, err := Join(ctx, Config{Server: "nobody:1", Total: 1, Network: n, DialTimeout: 50 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "rank 0: cannot join job") {
		t.Errorf("got %v", err)
	}
}
