// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/auth/authtest"
	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

var testJob = protocol.Job{UniqueID: 7, RunKey: "mesh"}

// rank is one rank of a test: its mesh, its epoch, and what it was handed over.
type rank struct {
	*Mesh
	epoch *Epoch
	log   bytes.Buffer
	serve func(c net.Conn, from int, w *client.Wiring) error

	mu    sync.Mutex
	now   *client.Wiring
	conns map[int]Conn
	twice []int // ranks that were handed over more than once
}

func (r *rank) Current() (*client.Wiring, *Epoch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now, r.epoch
}

// set makes w the epoch that the rank is in.
func (r *rank) set(w *client.Wiring) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = w
}

func (r *rank) Newest() *client.Wiring {
	w, _ := r.Current()
	return w
}

func (r *rank) Serve(c net.Conn, from int, w *client.Wiring) error { return r.serve(c, from, w) }

func (r *rank) take(from int, c Conn) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.conns[from]; ok {
		r.twice = append(r.twice, from)
	}
	r.conns[from] = c
	return nil
}

// cluster is the ranks of a job on an in-memory network, rank i on host h<i>.
type cluster struct {
	t      testing.TB
	net    *mem.Network
	live   members.Set
	wiring *client.Wiring
	over   chan struct{}
	ranks  map[int]*rank
}

// newCluster starts the meshes of the members. change may change the configuration of each.
func newCluster(t testing.TB, total int, live members.Set, creds *auth.Credentials, change func(rank int, c *Config)) *cluster {
	t.Helper()
	cl := &cluster{t: t, net: mem.New(), live: live, over: make(chan struct{}), ranks: map[int]*rank{}}
	cl.wiring = &client.Wiring{Epoch: testEpoch, Token: [16]byte{1, 2, 3}, Members: live}
	for _, i := range live {
		r := &rank{conns: map[int]Conn{}}
		host := fmt.Sprintf("h%d", i)
		cfg := Config{
			Network: cl.net.Host(host), Listen: ":26544", Advertise: host, Credentials: creds, Job: testJob,
			Rank: i, Total: total, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
		}
		if change != nil {
			change(i, &cfg)
		}
		m, err := Listen(context.Background(), cfg, r)
		if err != nil {
			t.Fatal(err)
		}
		r.Mesh = m
		cl.ranks[i] = r
		cl.wiring.Peers.Append(protocol.Member{Rank: i, Host: host, Port: 26544})
		t.Cleanup(m.Close)
	}
	return cl
}

// begin enters the epoch on all ranks and starts their acceptors.
func (cl *cluster) begin(change func(rank int, c *EpochConfig)) {
	for _, i := range cl.live {
		r := cl.ranks[i]
		cfg := EpochConfig{Wiring: cl.wiring, Members: cl.live, Tree: topo.Binary(len(cl.live)), Self: cl.live.Position(i), Over: cl.over}
		if change != nil {
			change(i, &cfg)
		}
		e := r.Epoch(cfg)
		r.mu.Lock()
		r.now, r.epoch = cl.wiring, e
		r.mu.Unlock()
		cl.t.Cleanup(e.End)
		if !cl.wiring.Stream {
			r.Accept()
		}
	}
}

// connect runs Connect on all ranks.
func (cl *cluster) connect(ctx context.Context) map[int]error {
	errs := map[int]error{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, i := range cl.live {
		all.Go(func() {
			err := cl.ranks[i].epoch.Connect(ctx)
			if err == nil {
				err = cl.ranks[i].epoch.HandOver(cl.ranks[i].take)
			}
			mu.Lock()
			defer mu.Unlock()
			errs[i] = err
		})
	}
	all.Wait()
	return errs
}

// check reports an error unless two ranks share one connection, whose seals fit each other.
func (cl *cluster) check(a, b int) error {
	x, y := cl.ranks[a].conns[b], cl.ranks[b].conns[a]
	if x.Conn == nil || y.Conn == nil {
		return fmt.Errorf("ranks %d and %d: connected %v, %v", a, b, x.Conn != nil, y.Conn != nil)
	}
	if x.Role == y.Role {
		return fmt.Errorf("ranks %d and %d are both the %s of the handshake", a, b, x.Role)
	}
	if dials := x.Role == auth.Client; dials != cl.ranks[a].epoch.dials(a, b) {
		return fmt.Errorf("rank %d has dialled rank %d: %v", a, b, dials)
	}
	text := fmt.Sprintf("from %d to %d", a, b)
	from, to := x.Exchange.Seal(x.Conn, x.Role), y.Exchange.Seal(y.Conn, y.Role)
	sent := make(chan error, 1)
	go func() {
		_, err := from.Write([]byte(text))
		sent <- err
	}()
	got := make([]byte, len(text))
	_, err := io.ReadFull(to, got)
	if err = errors.Join(err, <-sent); err != nil || string(got) != text {
		return fmt.Errorf("ranks %d and %d: got %q, %v, want %q", a, b, got, err, text)
	}
	return nil
}

// TestMembersConnect checks for any members of any job, with and without a secret, that Connect
// opens the connections of the tree, and Reach those between all other members, each once.
func TestMembersConnect(t *testing.T) {
	secret := &auth.Credentials{Secret: authtest.Secret(t, "a")}
	rapid.Check(t, func(rt *rapid.T) {
		total := rapid.IntRange(1, 12).Draw(rt, "total")
		live := slices.DeleteFunc(members.All(total), func(int) bool { return rapid.IntRange(0, 3).Draw(rt, "gone") == 0 })
		creds := rapid.SampledFrom([]*auth.Credentials{nil, secret}).Draw(rt, "credentials")
		var errs []error
		synctest.Test(t, func(t *testing.T) {
			cl := newCluster(t, total, live, creds, nil)
			cl.begin(nil)
			for i, err := range cl.connect(t.Context()) {
				if err != nil {
					errs = append(errs, fmt.Errorf("rank %d: %w", i, err))
				}
			}
			tree := topo.Binary(len(live))
			for at, i := range live {
				if up := tree.Parent(at); up != topo.None {
					errs = append(errs, cl.check(i, live[up]))
				}
			}
			var closed [][2]int
			for _, a := range live {
				for _, b := range live {
					if _, open := cl.ranks[a].conns[b]; a != b && !open {
						closed = append(closed, [2]int{a, b})
					}
				}
			}
			for _, pair := range closed {
				cl.ranks[pair[0]].epoch.Reach(pair[1], time.Minute, func(err error) { t.Errorf("ranks %v: %v", pair, err) })
			}
			synctest.Wait()
			for _, a := range live {
				for _, b := range live {
					if a < b {
						errs = append(errs, cl.check(b, a))
					}
				}
				if twice := cl.ranks[a].twice; len(twice) > 0 {
					errs = append(errs, fmt.Errorf("rank %d was handed connections to %v twice", a, twice))
				}
			}
		})
		if err := errors.Join(errs...); err != nil {
			rt.Fatal(err)
		}
	})
}

// TestAcceptorDrops checks that every connection that is not from a member of the epoch is
// dropped, with the reason in the log, and that a later epoch is no reason for a line.
func TestAcceptorDrops(t *testing.T) {
	later := testEpoch
	later.N++
	earlier := testEpoch
	earlier.N--
	creds := &auth.Credentials{Secret: authtest.Secret(t, "a")}
	for _, c := range []struct {
		name  string
		first []byte
		want  string // in the log; "": no line
	}{
		{"another protocol", []byte("GET / HTTP/1.1\r\nHost: a port scanner, with a long header\r\n\r\n"), "no rank of a gvw job"},
		{"an earlier epoch", newHello(earlier, 0, 1, 3, false), "it is of another epoch"},
		{"a later epoch", newHello(later, 0, 1, 3, false), ""},
		{"a later epoch of a transfer", newHello(later, 0, 1, 3, true), ""},
		{"another rank", newHello(testEpoch, 0, 2, 3, false), "it looks for rank 2 of 3, this is rank 1 of 3"},
		{"another total", newHello(testEpoch, 0, 1, 4, false), "it looks for rank 1 of 4, this is rank 1 of 3"},
		{"no member", newHello(testEpoch, 7, 1, 3, false), "rank 7 has no reason to connect to this rank"},
		{"this rank", newHello(testEpoch, 1, 1, 3, false), "rank 1 has no reason to connect to this rank"},
		{"no key", newHello(testEpoch, 0, 1, 3, false), "is not a rank of this epoch"},
		{"no key for a transfer", newHello(testEpoch, 0, 1, 3, true), "is not a rank of this epoch"},
		{"silence", nil, "i/o timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := newCluster(t, 3, members.All(3), creds, nil)
				cl.begin(nil)
				conn, err := cl.net.Host("stranger").Dial(t.Context(), cl.wiring.Address(1))
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				go func() {
					_, _ = conn.Write(append(slices.Clone(c.first), make([]byte, auth.ProofSize)...)) // the acceptor may have closed it
				}()
				began := time.Now()
				_, _ = io.Copy(io.Discard, conn) // until it is dropped
				if took := time.Since(began); took > handshakeTimeout {
					t.Errorf("dropped after %v, want at most %v", took, handshakeTimeout)
				}
				synctest.Wait()
				log := cl.ranks[1].log.String()
				if c.want == "" && strings.Contains(log, "dropped") || !strings.Contains(log, c.want) {
					t.Errorf("want %q in the log:\n%s", c.want, log)
				}
				if n := len(cl.ranks[1].epoch.conns); n > 0 {
					t.Errorf("%d connections were installed", n)
				}
			})
		})
	}
}

// TestPendingHandshakesAreBounded checks that the oldest of too many pending handshakes is
// dropped, and that members still connect.
func TestPendingHandshakesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl := newCluster(t, 2, members.All(2), nil, nil)
		limit := cl.ranks[1].pending.limit
		cl.begin(nil)
		var conns []net.Conn
		for range limit + 5 {
			c, err := cl.net.Host("stranger").Dial(t.Context(), cl.wiring.Address(1))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			conns = append(conns, c)
			synctest.Wait()
		}
		for i, c := range conns {
			if err := c.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			_, err := c.Read(make([]byte, 1))
			var timeout net.Error
			if open := errors.As(err, &timeout) && timeout.Timeout(); open != (i >= 5) {
				t.Errorf("connection %d of %d, limit %d: open %v (%v)", i, len(conns), limit, open, err)
			}
		}
		began := time.Now()
		for i, err := range cl.connect(t.Context()) {
			if err != nil {
				t.Errorf("rank %d: %v", i, err)
			}
		}
		if took := time.Since(began); took > RedialAfter {
			t.Errorf("the members have connected after %v", took)
		}
	})
}

func TestPendingLimit(t *testing.T) {
	for descriptors, want := range map[int]int{0: 4, 32: 4, 1024: 128, 4096: 512, 1 << 30: 512} {
		if got := pendingLimit(descriptors); got != want {
			t.Errorf("%d descriptors: got %d, want %d", descriptors, got, want)
		}
	}
}

func TestValidateReportsAllFaults(t *testing.T) {
	err := Config{Rank: 3, Listen: "h", Advertise: "10/8", NoTags: true}.Validate()
	for _, want := range []string{"mesh: Total", "mesh: Rank", "mesh: Listen", "mesh: Advertise", "mesh: NoTags"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s in it", err, want)
		}
	}
	if err := (Config{Rank: -1, Total: 1}).Validate(); err != nil {
		t.Errorf("a spare: %v", err)
	}
}
