// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// cluster is a job with a real server on a network in memory, or on the loopback.
type cluster struct {
	t      testing.TB
	server string
	net    func(rank int) transport.Network
	cfg    Config
	mu     sync.Mutex
	groups []*Group              // the newest attempt of each rank
	late   map[int]time.Duration // ranks that join later, by rank
	fabric *mem.Network          // nil on the loopback
}

// newCluster starts a server. On a network in memory rank i runs on host h<i>.
func newCluster(t testing.TB, total int, cfg Config) *cluster {
	n := mem.New()
	c := &cluster{t: t, cfg: cfg, groups: make([]*Group, total), fabric: n}
	c.net = func(rank int) transport.Network { return n.Host(fmt.Sprintf("h%d", rank)) }
	c.start(n.Host("server"), "server:26543")
	return c
}

// newLoopback is newCluster over TCP.
func newLoopback(t testing.TB, total int, cfg Config) *cluster {
	cfg.Listen = "127.0.0.1:0"
	c := &cluster{t: t, cfg: cfg, groups: make([]*Group, total)}
	c.net = func(int) transport.Network { return transport.TCP }
	c.start(transport.TCP, "127.0.0.1:0")
	return c
}

func (c *cluster) start(n transport.Network, addr string) {
	c.t.Helper()
	l, err := n.Listen(context.Background(), addr)
	if err != nil {
		c.t.Fatal(err)
	}
	s, err := server.NewServer(server.ServerConfig{Credentials: c.cfg.Credentials})
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	c.t.Cleanup(func() {
		var all sync.WaitGroup
		for _, g := range c.groups {
			if g != nil {
				all.Go(func() { g.Close() })
			}
		}
		all.Wait()
		cancel()
		s.Close()
		<-served
	})
	c.server = l.Addr().String()
}

// each runs work on all ranks at once, and returns their errors.
func (c *cluster) each(work func(g *Group) error) []error {
	errs := make([]error, len(c.groups))
	var all sync.WaitGroup
	for rank := range c.groups {
		all.Go(func() {
			time.Sleep(c.late[rank])
			g, err := c.join(rank, c.net(rank))
			if err != nil {
				errs[rank] = err
				return
			}
			if errs[rank] = work(g); errs[rank] != nil {
				c.mu.Lock()
				g = c.groups[rank] // another attempt, if there is one
				c.mu.Unlock()
				g.Close() // no rank waits for this one
			}
		})
	}
	all.Wait()
	return errs
}

// join makes an attempt of a rank on a network join the job.
func (c *cluster) join(rank int, n transport.Network) (*Group, error) {
	return c.joinContext(context.Background(), rank, n)
}

func (c *cluster) joinContext(ctx context.Context, rank int, n transport.Network) (*Group, error) {
	cfg := c.cfg
	cfg.Server, cfg.Rank, cfg.Total = c.server, rank, len(c.groups)
	if cfg.Job == (Job{}) {
		cfg.Job = Job{UniqueID: 7}
	}
	cfg.Network, cfg.Host = n, fmt.Sprintf("h%d", rank)
	if testing.Verbose() {
		cfg.Log = slog.Default()
	}
	g, err := Join(ctx, cfg)
	if err == nil {
		c.mu.Lock()
		c.groups[rank] = g
		c.mu.Unlock()
	}
	return g, err
}

// sent returns the number of updates of a rank's first object.
func (c *cluster) sent(rank int) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.groups[rank].objects[0].stats().Sent
}

// must is each for work that succeeds on all ranks.
func (c *cluster) must(work func(g *Group) error) {
	c.t.Helper()
	for rank, err := range c.each(work) {
		if err != nil {
			c.t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// bubble runs a test under a virtual clock.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}
