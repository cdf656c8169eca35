// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// unroutable is a network that reaches no other rank.
type unroutable struct{ transport.Network }

func (unroutable) Dial(context.Context, string) (net.Conn, error) {
	return nil, errors.New("no route to host")
}

// TestConnectEnds checks when and why Connect gives up if a child cannot reach its parent. In a
// tree of three ranks, rank 1 is the parent of ranks 0 and 2.
func TestConnectEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		later  bool
		silent time.Duration // Unanswered
		over   bool          // the epoch ends after a second
		within time.Duration
		after  time.Duration // when rank 2 gives up
		lost   int           // what Unreachable returns
		want   string
	}{
		{"context", false, 0, false, 5 * time.Second, 5 * time.Second, 1, "rank 2: wiring: waiting for [rank 1 (h1:26544), which this rank has not reached: no route to host"},
		{"end of the epoch", false, 0, true, time.Minute, time.Second, schedule.None, "the epoch has ended"},
		{"no listener in a later epoch", true, 0, false, time.Hour, 20*time.Second + RedialAfter, 1, "rank 2: cannot reach rank 1: no route to host"},
		{"no listener for less than 20 s", true, time.Second, false, time.Hour, 20*time.Second + RedialAfter, 1, "rank 2: cannot reach rank 1: no route to host"},
		{"no listener for longer than 20 s", true, time.Minute, false, time.Hour, time.Minute + RedialAfter, 1, "rank 2: cannot reach rank 1: no route to host"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := newCluster(t, 3, members.All(3), nil, func(rank int, cfg *Config) {
					if rank == 2 {
						cfg.Network = unroutable{cfg.Network}
					}
				})
				cl.begin(func(_ int, cfg *EpochConfig) { cfg.Later, cfg.Unanswered = c.later, c.silent })
				if c.over {
					time.AfterFunc(time.Second, func() { close(cl.over) })
				}
				ctx, cancel := context.WithTimeout(t.Context(), c.within)
				defer cancel()
				began := time.Now()
				err := cl.ranks[2].epoch.Connect(ctx)
				if took := time.Since(began); err == nil || !strings.Contains(err.Error(), c.want) || took != c.after {
					t.Errorf("got %v after %v, want %q after %v", err, took, c.want, c.after)
				}
				if got := cl.ranks[2].epoch.Unreachable(); got != c.lost {
					t.Errorf("got unreachable rank %d, want %d", got, c.lost)
				}
			})
		})
	}
}

// TestReachWithoutALimit checks that Reach without a limit gives up a rank at whose address nothing
// listens, and no rank that answers but is still in an older epoch.
func TestReachWithoutALimit(t *testing.T) {
	for _, listens := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			cl := newCluster(t, 3, members.All(3), nil, func(rank int, cfg *Config) {
				if rank == 2 && !listens {
					cfg.Network = unroutable{cfg.Network}
				}
			})
			cl.begin(func(_ int, cfg *EpochConfig) { cfg.Later = true })
			before := *cl.wiring
			before.Epoch.N--
			cl.ranks[0].set(&before)
			began := time.Now()
			failed := make(chan error, 1)
			cl.ranks[2].epoch.Reach(0, 0, func(err error) { failed <- err })
			select {
			case err := <-failed:
				if took := time.Since(began); listens || took != unansweredFor+RedialAfter {
					t.Errorf("listens %v: got %v after %v", listens, err, took)
				}
			case <-time.After(3 * time.Minute):
				if !listens {
					t.Error("a rank at whose address nothing listens is not given up")
				}
			}
		})
	}
}

// TestLoopbackAddressIsUnreachable checks that a rank which advertises a loopback address to
// another machine is named soon, with both addresses.
func TestLoopbackAddressIsUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl := newCluster(t, 2, members.All(2), nil, nil)
		cl.wiring.Peers = protocol.MemberList{}
		cl.wiring.Peers.Append(protocol.Member{Rank: 0, Host: "h0", Port: 26544})
		cl.wiring.Peers.Append(protocol.Member{Rank: 1, Host: "127.0.0.1", Port: 26544, Seen: "h1"})
		cl.begin(nil)
		began := time.Now()
		err := cl.ranks[0].epoch.Connect(t.Context())
		if want := "the server observes it at h1"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if took := time.Since(began); took > unreachableAfter*RedialAfter {
			t.Errorf("it took %v, want %d attempts", took, unreachableAfter)
		}
	})
}

// TestBothEndsAskAboutAConnection checks that each end of a connection that does not open asks
// the server once per AskAfter, and reports the same wait in its heartbeats.
func TestBothEndsAskAboutAConnection(t *testing.T) {
	type question struct {
		of, about int
		at        time.Duration
	}
	synctest.Test(t, func(t *testing.T) {
		cl := newCluster(t, 2, members.All(2), nil, func(rank int, cfg *Config) {
			if rank == 0 {
				cfg.Network = unroutable{cfg.Network}
			}
		})
		began := time.Now()
		asked := make(chan question, 10)
		cl.begin(func(rank int, cfg *EpochConfig) {
			cfg.AskAfter = 3 * time.Second
			cfg.Ask = func(_ context.Context, about int, _ string) { asked <- question{rank, about, time.Since(began)} }
		})
		time.AfterFunc(7*time.Second, func() {
			for rank, r := range cl.ranks {
				if w := r.epoch.Waits(); w.Rank != 1-rank || !strings.Contains(w.Text, "wiring: 7s, waiting for [rank") {
					t.Errorf("rank %d reports the wait %+v", rank, w)
				}
			}
			close(cl.over)
		})
		for rank, err := range cl.connect(t.Context()) {
			if !errors.Is(err, ErrOver) {
				t.Errorf("rank %d: got %v, want the end of the epoch", rank, err)
			}
		}
		close(asked)
		var got []question
		for q := range asked {
			got = append(got, q)
		}
		slices.SortFunc(got, func(a, b question) int { return int(a.at-b.at)*2 + a.of - b.of })
		want := []question{{0, 1, 3 * time.Second}, {1, 0, 3 * time.Second}, {0, 1, 6 * time.Second}, {1, 0, 6 * time.Second}}
		if !slices.Equal(got, want) {
			t.Errorf("got questions %v, want %v", got, want)
		}
		if w := cl.ranks[0].epoch.Waits(); w.Rank != -1 {
			t.Errorf("rank 0 reports the wait %+v after Connect", w)
		}
	})
}

// TestCloseDropsConnectionsNotHandedOver checks that connections that open after Close are closed.
func TestCloseDropsConnectionsNotHandedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl := newCluster(t, 2, members.All(2), nil, nil)
		cl.begin(nil)
		cl.ranks[1].epoch.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := cl.ranks[0].epoch.Connect(ctx); err != nil { // the handshake itself is complete
			t.Fatal(err)
		}
		c := cl.ranks[0].epoch.conns[1]
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("the connection is still open")
		}
	})
}

// places is the tree as one rank of a job with vw workers sees it.
type places struct{ parent, left, right int }

func (p places) Size() int               { return 4 }
func (p places) Parent(int) int          { return p.parent }
func (p places) Children(int) (int, int) { return p.left, p.right }

// TestStreamHasNoHandshake checks the order of connections in a job with vw workers: connections
// get the places of the children in the order in which they come, and no byte is exchanged.
func TestStreamHasNoHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl := newCluster(t, 1, members.All(1), nil, nil)
		parent, err := cl.net.Host("vw").Listen(t.Context(), ":1")
		if err != nil {
			t.Fatal(err)
		}
		defer parent.Close()
		cl.wiring = &client.Wiring{Stream: true, Parent: "vw:1", Kids: 2}
		cl.begin(func(_ int, cfg *EpochConfig) {
			cfg.Members, cfg.Tree, cfg.Self = nil, places{parent: 3, left: 0, right: 2}, 1
		})
		r := cl.ranks[0]
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		connected := make(chan error, 1)
		go func() { connected <- r.epoch.Connect(ctx) }()
		if c, err := parent.Accept(); err != nil {
			t.Error(err)
		} else {
			defer c.Close()
		}
		for range 2 {
			time.Sleep(time.Millisecond)
			c, err := cl.net.Host("vw").Dial(t.Context(), r.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
		if err := <-connected; err != nil {
			t.Fatal(err)
		}
		if err := r.epoch.HandOver(r.take); err != nil {
			t.Fatal(err)
		}
		for _, place := range []int{0, 2, 3} {
			if c, ok := r.conns[place]; !ok || c.Exchange != (auth.Exchange{}) {
				t.Errorf("place %d: connected %v, with the handshake %v", place, ok, c.Exchange)
			}
		}
	})
}

// TestStreamAllowsNetworks checks that in a job with vw workers, too, only peers in allowed
// networks become children.
func TestStreamAllowsNetworks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl := newCluster(t, 1, members.All(1), nil, func(_ int, cfg *Config) {
			cfg.Allow = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
		})
		cl.wiring = &client.Wiring{Stream: true, Kids: 2}
		cl.begin(func(_ int, cfg *EpochConfig) {
			cfg.Members, cfg.Tree, cfg.Self = nil, places{parent: schedule.None, left: 0, right: 2}, 1
		})
		r := cl.ranks[0]
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, host := range []string{"198.51.100.1", "192.0.2.1", "198.51.100.2", "192.0.2.2"} {
			c, err := cl.net.Host(host).Dial(t.Context(), r.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
		if err := r.epoch.Connect(ctx); err != nil {
			t.Fatal(err)
		}
		if err := r.epoch.HandOver(r.take); err != nil {
			t.Fatal(err)
		}
		for place, want := range map[int]string{0: "192.0.2.1", 2: "192.0.2.2"} {
			if got, _, err := net.SplitHostPort(r.conns[place].Host); got != want {
				t.Errorf("place %d: got a connection from %s (%v), want %s", place, got, err, want)
			}
		}
		if log := r.log.String(); strings.Count(log, "in no allowed network") != 2 {
			t.Errorf("want two dropped connections in the log:\n%s", log)
		}
	})
}
