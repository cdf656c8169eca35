// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// testJob is a job with a real server and all its ranks in this process.
type testJob struct {
	t      testing.TB
	net    func(rank int) transport.Network
	server string
	cfg    Config // what the ranks share
	total  int

	groups []*Group
	logs   []*safeBuffer
	routes []*route // of a job in memory, by rank
}

// safeBuffer is a log that several goroutines write.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// startServer runs a server until the test ends.
func startServer(t testing.TB, n transport.Network, addr string) string {
	t.Helper()
	return startGuarded(t, n, addr, nil)
}

// startGuarded is startServer with credentials.
func startGuarded(t testing.TB, n transport.Network, addr string, creds *auth.Credentials) string {
	t.Helper()
	l, err := n.Listen(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(server.ServerConfig{Credentials: creds})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		s.Close()
		<-done
	})
	return l.Addr().String()
}

// newMemJob is a job on an in-memory network; rank i runs on host h<i>.
func newMemJob(t testing.TB, total int, cfg Config) (*testJob, *mem.Network) {
	t.Helper()
	n := mem.New()
	routes := make([]*route, total)
	for rank := range routes {
		routes[rank] = &route{Network: n.Host(fmt.Sprintf("h%d", rank))}
	}
	j := newJob(t, total, cfg, n.Host("server"), "server:26543", func(rank int) transport.Network { return routes[rank] })
	j.routes = routes
	return j, n
}

// route is a network that a test may replace before a rank connects to others.
type route struct{ transport.Network }

// reroute replaces the network of a rank by what change makes of it.
func (j *testJob) reroute(rank int, change func(transport.Network) transport.Network) {
	r := j.routes[rank]
	r.Network = change(r.Network)
}

// newTCPJob is a job over loopback, without shared memory.
func newTCPJob(t testing.TB, total int, cfg Config) *testJob {
	t.Helper()
	cfg.NoSharedMemory = true
	return newLoopbackJob(t, total, cfg)
}

// newLoopbackJob is a job over loopback whose ranks may share memory.
func newLoopbackJob(t testing.TB, total int, cfg Config) *testJob {
	t.Helper()
	cfg.Listen = "127.0.0.1:0"
	return newJob(t, total, cfg, transport.TCP, "127.0.0.1:0", func(int) transport.Network { return transport.TCP })
}

func newJob(t testing.TB, total int, cfg Config, server transport.Network, addr string, net func(int) transport.Network) *testJob {
	t.Helper()
	j := &testJob{t: t, net: net, cfg: cfg, total: total, groups: make([]*Group, total), logs: make([]*safeBuffer, total)}
	j.server = startGuarded(t, server, addr, cfg.Credentials)
	j.each(func(rank int) error {
		j.logs[rank] = &safeBuffer{}
		c := j.cfg
		c.Server, c.Job = j.server, Job{UniqueID: 7}
		c.Rank, c.Total = rank, total
		c.Network = j.net(rank)
		c.Host = fmt.Sprintf("h%d", rank)
		c.Log = slog.New(slog.NewTextHandler(j.logs[rank], nil))
		g, err := Join(context.Background(), c)
		j.groups[rank] = g
		return err
	})
	t.Cleanup(j.close)
	return j
}

// close ends all groups at once.
func (j *testJob) close() {
	var wg sync.WaitGroup
	for _, g := range j.groups {
		if g != nil {
			wg.Go(func() { g.Close() })
		}
	}
	wg.Wait()
}

// each runs f for all ranks at once and demands success.
func (j *testJob) each(f func(rank int) error) {
	j.t.Helper()
	for rank, err := range j.all(func(rank int) error {
		err := f(rank)
		if err != nil && j.groups[rank] != nil {
			j.groups[rank].Fail(ctx, err) // else the others would wait without end
		}
		return err
	}) {
		if err != nil {
			j.t.Fatalf("rank %d: %v", rank, err)
		}
	}
}

// all runs f for all ranks at once.
func (j *testJob) all(f func(rank int) error) []error {
	errs := make([]error, j.total)
	var wg sync.WaitGroup
	for rank := range j.total {
		wg.Go(func() { errs[rank] = f(rank) })
	}
	wg.Wait()
	return errs
}

func (j *testJob) ready() {
	j.t.Helper()
	j.each(func(rank int) error { return j.groups[rank].Ready(context.Background(), Shard{Examples: 1}) })
}

// limitWaits sets MaxWait of all ranks. A limit in Config would also hold for the agreements of the first epoch.
func (j *testJob) limitWaits(limit time.Duration) {
	for _, g := range j.groups {
		en := &g.epoch.Engine
		en.Mu.Lock()
		en.Limits.MaxWait = limit
		en.Mu.Unlock()
	}
}

// inBubble runs a job in a synctest bubble.
func inBubble(t *testing.T, total int, cfg Config, f func(t *testing.T, j *testJob, n *mem.Network)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		j, n := newMemJob(t, total, cfg)
		f(t, j, n)
	})
}
