// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/auth/authtest"
	"github.com/gvw-project/gvw/allreduce/internal/epoch"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/link/netconn"
)

// With all credentials the sums are the same, and each edge has the driver that the configuration
// demands.
func TestJobsBehindCredentials(t *testing.T) {
	secret, tls := authtest.Secret(t, "a"), authtest.NewSite(t).TLS("all", time.Now(), "127.0.0.1")
	for name, creds := range map[string]*auth.Credentials{
		"secret": {Secret: secret}, "TLS": {TLS: tls}, "both": {Secret: secret, TLS: tls}, "encrypted": {Secret: secret, TLS: authtest.Ephemeral(t)},
	} {
		t.Run(name, func(t *testing.T) {
			j := newTCPJob(t, 5, Config{Credentials: creds})
			checkCollectives(t, j, 10_000)
			for _, g := range j.groups {
				_, portable := g.epoch.Engine.Driver.(*netconn.Driver)
				if want := creds.TLS != nil; want && !portable {
					t.Errorf("rank %d: bytes are moved by %T", g.cfg.Rank, g.epoch.Engine.Driver)
				}
				for _, e := range g.epoch.Engine.Open {
					if creds.TLS != nil && auth.Binding(e.Conn) == nil {
						t.Errorf("rank %d: the edge to rank %d is a bare %T", g.cfg.Rank, e.Rank, e.Conn)
					}
				}
			}
		})
	}
}

// A client that has the epoch and everything else but the secret is not accepted as a rank.
func TestClientWithoutTheSecretIsNoRank(t *testing.T) {
	secret := authtest.Secret(t, "a")
	j := newTCPJob(t, 2, Config{Credentials: &auth.Credentials{Secret: secret}})
	checkCollectives(t, j, 10)
	g := j.groups[1]
	w := g.member.Newest()
	for name, key := range map[string]auth.Key{
		"another job's token":            g.cfg.Credentials.Epoch(auth.Scope{UniqueID: 7, Term: w.Epoch.Term, N: w.Epoch.N, Incarnation: w.Epoch.Incarnation, Token: [16]byte{1}}),
		"the token without the secret":   epochKey(Config{Job: g.cfg.Job}, w),
		"the token and another secret":   epochKey(Config{Job: g.cfg.Job, Credentials: &auth.Credentials{Secret: authtest.Secret(t, "b")}}, w),
		"the token of another run of it": epochKey(Config{Job: Job{UniqueID: 7, RunKey: "x"}, Credentials: g.cfg.Credentials}, w),
	} {
		for _, pull := range []bool{false, true} {
			c, err := net.Dial("tcp", g.mesh.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			if err := c.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
				t.Fatal(err)
			}
			// The client ignores that the rank's proof is wrong for its secret.
			_, _, err = key.Initiate(c, newHello(w.Epoch, 0, 1, 2, pull), helloSize)
			if _, ok := errors.AsType[*auth.Error](err); !ok {
				t.Errorf("%s: %v, want a proof that is none", name, err)
			}
			if _, err := c.Write(make([]byte, auth.ProofSize)); err == nil {
				if b, err := io.ReadAll(c); len(b) > 0 {
					t.Errorf("%s: the rank says % x, %v", name, b, err)
				}
			}
			c.Close()
		}
	}
	checkCollectives(t, j, 10)
	if log := j.logs[1].String(); !strings.Contains(log, "is not a rank of this epoch") {
		t.Errorf("the log does not say so:\n%s", log)
	}
}

// A recorded handshake is useless to a third party: a complete replay is refused.
func TestReplayedHandshakeIsRefused(t *testing.T) {
	j := newTCPJob(t, 2, Config{Credentials: &auth.Credentials{Secret: authtest.Secret(t, "a")}})
	checkCollectives(t, j, 10)
	g := j.groups[1]
	w := g.member.Newest()
	key, own := epochKey(g.cfg, w), newHello(w.Epoch, 0, 1, 2, false)
	// The handshake as rank 0 would make it, with the recorded answer.
	heard := newHello(w.Epoch, 1, 0, 2, false)
	proof := key.Exchange(own, heard, nil).Proof(auth.Client)
	c, err := net.Dial("tcp", g.mesh.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(append(own, proof[:]...)); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(c); err != nil && len(b) != helloSize+auth.ProofSize {
		t.Errorf("got %d bytes, %v; want a hello, its proof and the end", len(b), err)
	}
	checkCollectives(t, j, 10)
}

// Any number of pending handshakes of other clients does not keep a rank from connecting.
func TestPendingHandshakesDelayNoRank(t *testing.T) {
	inBubble(t, 2, Config{}, func(t *testing.T, j *testJob, n *mem.Network) {
		addr, stranger := j.groups[1].mesh.Addr().String(), n.Host("stranger")
		for range 3 * maxPending {
			c, err := stranger.Dial(ctx, addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
		start := time.Now()
		checkCollectives(t, j, 10)
		if took := time.Since(start); took > handshakeTimeout/2 {
			t.Errorf("the strangers held up the job for %v", took)
		}
	})
}

// No change to the bytes between two ranks is accepted: either the handshake fails and the next
// one succeeds, or the collective fails on every rank in time. No sum is wrong.
func TestBytesChangedBetweenRanks(t *testing.T) {
	tls := authtest.NewSite(t).TLS("all", time.Now(), "127.0.0.1")
	for name, creds := range map[string]*auth.Credentials{
		"nothing": nil, "secret": {Secret: authtest.Secret(t, "a")}, "TLS": {TLS: tls}, "encrypted": {Secret: authtest.Secret(t, "a"), TLS: authtest.Ephemeral(t)},
	} {
		for _, at := range []int{0, 20, 50, helloSize + 3, 300, 1500, 5000, 60_000} {
			t.Run(fmt.Sprintf("%s, byte %d", name, at), func(t *testing.T) {
				t.Parallel()
				nets := make([]*changer, 2)
				for i := range nets {
					nets[i] = &changer{Network: transport.TCP, at: at, bit: 4}
				}
				nets[0].left.Store(1) // rank 0 connects to rank 1, its parent
				server := startGuarded(t, transport.TCP, "127.0.0.1:0", creds)
				nets[0].server, nets[1].server = server, server
				within, cancel := context.WithTimeout(ctx, 2*time.Minute)
				defer cancel()
				errs, sums := make([]error, 2), make([]float32, 2)
				greeting := at < helloSize && (creds == nil || creds.TLS == nil)
				dial, stall := 5*time.Second, time.Second
				if greeting { // no rank may give up
					dial, stall = time.Minute, time.Minute
				}
				var ranks sync.WaitGroup
				for rank := range nets {
					ranks.Go(func() {
						g, err := Join(within, Config{
							Server: server, Job: Job{UniqueID: 7}, Rank: rank, Total: 2, Network: nets[rank], Listen: "127.0.0.1:0",
							NoSharedMemory: true, Credentials: creds, DialTimeout: dial, Stall: stall, driver: epoch.Conn,
						})
						if err != nil {
							errs[rank] = err
							return
						}
						t.Cleanup(func() { g.Close() }) // not before the others are through
						v := make([]float32, 40_000)
						for i := range v {
							v[i] = 1
						}
						errs[rank] = g.AllReduce(within, Vec(v), Sum)
						for _, x := range v {
							sums[rank] += x
						}
					})
				}
				ranks.Wait()
				if within.Err() != nil {
					t.Fatal("no rank returned in time")
				}
				for rank, err := range errs {
					if err == nil && sums[rank] != 80_000 {
						t.Errorf("rank %d: the sum is %v, want %v", rank, sums[rank], 80_000)
					}
				}
				if greeting && errors.Join(errs...) != nil {
					t.Errorf("a second greeting would have been whole: %v", errs)
				}
			})
		}
	}
}

// A rank accepts connections only from the networks in Config.Allow.
func TestAllowedRanks(t *testing.T) {
	for network, want := range map[string]bool{"127.0.0.0/8": true, "10.0.0.0/8": false} {
		cfg := Config{Allow: []netip.Prefix{netip.MustParsePrefix(network)}}
		if !want {
			cfg.DialTimeout = 2 * time.Second // the refused rank tries until then
		}
		j := newTCPJob(t, 2, cfg)
		errs := j.all(func(rank int) error { return j.groups[rank].Ready(ctx, Shard{}) })
		err := errors.Join(errs...)
		if (err == nil) != want || !want && !strings.Contains(j.logs[1].String(), "is in no allowed network") {
			t.Errorf("%s: %v\n%s", network, err, j.logs[1])
		}
	}
}
