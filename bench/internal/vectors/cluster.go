// SPDX-License-Identifier: Apache-2.0

package vectors

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/spantree/server"
	"github.com/gvw-project/gvw/malt"
)

// job runs work on each rank of a job, and counts in traffic the bytes that ranks send each other.
func job(ctx context.Context, total int, cfg malt.Config, traffic *atomic.Int64, work func(rank int, g *malt.Group) error) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s, err := server.NewServer(server.ServerConfig{})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	defer func() {
		s.Close()
		<-served
	}()

	cfg.Server, cfg.Job, cfg.Total = l.Addr().String(), malt.Job{UniqueID: 1}, total
	cfg.NoSharedMemory = true // whose bytes no connection carries
	cfg.Network, cfg.Listen = counting{transport.TCP, traffic}, "127.0.0.1:0"
	errs := make([]error, total)
	var ranks sync.WaitGroup
	for rank := range total {
		ranks.Go(func() {
			cfg := cfg
			cfg.Rank = rank
			g, err := malt.Join(ctx, cfg)
			if err != nil {
				errs[rank] = fmt.Errorf("rank %d: %w", rank, err)
				return
			}
			defer g.Close()
			if err := work(rank, g); err != nil && !errors.Is(err, errKilled) {
				errs[rank] = fmt.Errorf("rank %d: %w", rank, err)
			}
		})
	}
	ranks.Wait()
	return errors.Join(errs...)
}

// errKilled is returned by the work of a rank that ends like a process that is killed: without a word.
var errKilled = errors.New("killed")

// counting counts the bytes of accepted connections, in both directions. Each connection between two ranks is
// accepted by one of them, so that its bytes count once.
type counting struct {
	transport.Network
	bytes *atomic.Int64
}

func (c counting) Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := c.Network.Listen(ctx, addr)
	if err != nil {
		return nil, err
	}
	return listener{l, c.bytes}, nil
}

type listener struct {
	net.Listener
	bytes *atomic.Int64
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn{c, l.bytes}, nil
}

type conn struct {
	net.Conn
	bytes *atomic.Int64
}

func (c conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.bytes.Add(int64(n))
	return n, err
}

func (c conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.bytes.Add(int64(n))
	return n, err
}
