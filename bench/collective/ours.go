// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// ours is this repository's all-reduce by one schedule.
type ours struct {
	cfg      Config
	schedule string
	alloc    bool // vectors are from allreduce.Alloc
	tls      bool // connections are TLS
	secret   bool // frames have tags
}

// The system names of our figures: plain, with vectors from allreduce.Alloc, over TLS, and with
// a secret.
const (
	ourName    = "gvw"
	allocName  = "gvw_alloc"
	tlsName    = "gvw_tls"
	secretName = "gvw_secret"
)

func (o *ours) name() (string, string) {
	switch {
	case o.alloc:
		return allocName, o.schedule
	case o.tls:
		return tlsName, o.schedule
	case o.secret:
		return secretName, o.schedule
	}
	return ourName, o.schedule
}

func (o *ours) close() error { return nil }

func (o *ours) turn(ctx context.Context) (batches []Batch, err error) {
	network := transport.TCP
	if o.cfg.Transport == "mem" {
		network = mem.New()
	}
	k := new(keys) // no keys
	switch {
	case o.tls:
		k, err = newKeys()
	case o.secret:
		k, err = newSecret()
	}
	if err != nil {
		return nil, err
	}
	if k.dir != "" {
		defer func() { err = errors.Join(err, k.close()) }()
	}
	s, err := serve(ctx, network, k.server)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	tasks := make([]task, o.cfg.Ranks)
	for rank := range tasks {
		tasks[rank] = task{
			Server: s.addr, Job: s.job, Rank: rank, Total: o.cfg.Ranks,
			Schedule: o.schedule, NoChecksum: o.cfg.NoChecksum, Shared: o.cfg.Transport == "shm", Alloc: o.alloc, Verbs: o.cfg.Transport == "verbs",
			Sizes: o.cfg.Sizes, PerSize: o.cfg.PerSize, TraceDir: o.cfg.TraceDir, TLS: k.rank, Secret: k.secret,
		}
	}
	if o.cfg.Transport == "mem" {
		return inside(ctx, network, tasks)
	}
	return outside(ctx, o.cfg.Self, tasks)
}

// inside runs the ranks in this process; their CPU time is that of the process.
func inside(ctx context.Context, n transport.Network, tasks []task) (batches []Batch, err error) {
	errs := make([]error, len(tasks))
	var ranks sync.WaitGroup
	for rank, t := range tasks {
		cpu := func() time.Duration { return 0 }
		if rank == 0 {
			cpu = cpuTime
		}
		ranks.Go(func() {
			errs[rank] = t.run(ctx, n, cpu, func(b Batch) error {
				batches = append(batches, b)
				return nil
			})
		})
	}
	ranks.Wait()
	return batches, errors.Join(errs...)
}

// outside runs each rank in a process of its own.
func outside(ctx context.Context, self []string, tasks []task) ([]Batch, error) {
	cmds := make([]*exec.Cmd, len(tasks))
	talks := make([]bytes.Buffer, len(tasks))
	var out bytes.Buffer
	for rank, t := range tasks {
		text, err := json.Marshal(t)
		if err != nil {
			return nil, fmt.Errorf("BUG: collective: %w", err)
		}
		args := append(slices.Clone(self[1:]), string(text))
		cmds[rank] = exec.Command(self[0], args...)
		cmds[rank].Stderr = &talks[rank]
	}
	cmds[0].Stdout = &out
	results, root, err := launch.Job{}.Run(ctx, cmds)
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case root >= 0 && results[root].Err != nil:
		return nil, fmt.Errorf("rank %d: %w", root, results[root].Err)
	case root >= 0:
		return nil, fmt.Errorf("rank %d failed first, exit code %d: %s", root, results[root].Code, lastWords(talks[root].String()))
	}
	return parseBatches(out.Bytes())
}

// parseBatches parses what rank 0 has reported. Lines that are not JSON objects are a peer's
// diagnostics and are skipped.
func parseBatches(text []byte) ([]Batch, error) {
	var batches []Batch
	for line := range bytes.Lines(text) {
		if line[0] != '{' {
			continue
		}
		var b Batch
		if err := json.Unmarshal(line, &b); err != nil {
			return nil, fmt.Errorf("rank 0 reports %q: %w", bytes.TrimSpace(line), err)
		}
		if b.Bytes <= 0 || b.Calls <= 0 || b.US <= 0 || b.CPU < 0 {
			return nil, fmt.Errorf("rank 0 reports %q: no batch has such figures", bytes.TrimSpace(line))
		}
		batches = append(batches, b)
	}
	return batches, nil
}

// lastWords returns the end of a program's output, on one line.
func lastWords(talk string) string {
	lines := strings.Split(strings.TrimSpace(talk), "\n")
	const most = 3
	return strings.Join(lines[max(0, len(lines)-most):], "; ")
}

// gateway is a spanning-tree server for one turn.
type gateway struct {
	addr   string
	job    uint64
	server *server.Server
	served chan error
}

func serve(ctx context.Context, n transport.Network, creds *auth.Credentials) (*gateway, error) {
	host := "127.0.0.1"
	if _, inProcess := n.(*mem.Network); inProcess {
		host = "mem"
	}
	l, err := n.Listen(ctx, net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("cannot start a server: %w", err)
	}
	// All ranks connect from one address at the same time.
	s, err := server.NewServer(server.ServerConfig{MaxPending: 2 * maxRanks, Credentials: creds})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	sv := &gateway{addr: l.Addr().String(), job: rand.Uint64(), server: s, served: make(chan error, 1)}
	go func() { sv.served <- s.Serve(context.WithoutCancel(ctx), l) }() // stop waits for it
	return sv, nil
}

func (s *gateway) stop() error {
	err := s.server.Close()
	if serr := <-s.served; serr != nil && !errors.Is(serr, net.ErrClosed) {
		err = errors.Join(err, serr)
	}
	return err
}
