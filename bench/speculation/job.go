// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

const (
	// lookEvery is the interval at which the launcher looks for ranks that lag.
	lookEvery = 10 * time.Millisecond
	// lagging is the multiple of the median pass after which the launcher starts another
	// attempt of a rank.
	lagging = 1.5
	// slowFactor is the server's: see allreduce.Config.SlowFactor.
	slowFactor = 2
)

// job is one run.
type job struct {
	cfg        *Config
	duplicates bool
	slowFrom   map[int]int // first slow pass of each slow rank
	server     string
	began      time.Time

	mu       sync.Mutex
	attempts []*attempt
	took     []time.Duration // durations of completed passes, as the launcher has seen them
	passes   [][]entry       // by pass, then by rank
	ends     []time.Time     // of passes
	digests  map[[32]byte]bool
	finished map[int]bool  // ranks with an attempt that has finished
	done     chan struct{} // closed when all ranks have finished
	errs     []error
	wait     sync.WaitGroup
}

// entry holds the times of a rank in a pass.
type entry struct {
	ready, end time.Time // when its contribution was ready, and when it had the sums
	attempt    *attempt
}

// attempt is a process of a rank; here it is a goroutine.
type attempt struct {
	rank      int
	duplicate bool
	since     time.Time // start of the pass under way; zero: none
}

// run runs the job to its end.
func (j *job) run(ctx context.Context) error {
	server, err := server.NewServer(server.ServerConfig{Log: j.cfg.Log})
	if err != nil {
		return err
	}
	l, err := j.cfg.network.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("speculation: cannot start the server: %w", err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l) }() // joined below
	j.server, j.began = l.Addr().String(), time.Now()
	within, cancel := context.WithCancelCause(ctx)
	for rank := range j.cfg.Ranks {
		j.start(within, rank, false)
	}
	if j.duplicates {
		j.wait.Go(func() { j.launch(within) })
	}
	select {
	case <-j.done:
	case <-ctx.Done():
	}
	cancel(errEnough) // ends the standbys and the attempts that lost
	j.wait.Wait()
	err = errors.Join(server.Close(), ctx.Err())
	<-served
	j.mu.Lock()
	defer j.mu.Unlock()
	return errors.Join(append(j.errs, err)...)
}

// errEnough ends attempts that the job no longer needs.
var errEnough = errors.New("speculation: the job has ended")

// start starts an attempt of a rank.
func (j *job) start(ctx context.Context, rank int, duplicate bool) {
	a := &attempt{rank: rank, duplicate: duplicate}
	j.mu.Lock()
	j.attempts = append(j.attempts, a)
	j.mu.Unlock()
	j.wait.Go(func() {
		err := j.attempt(ctx, a)
		j.mu.Lock()
		defer j.mu.Unlock()
		switch _, idle := errors.AsType[*protocol.FinishedError](err); {
		case err == nil:
			if j.finished[rank] = true; len(j.finished) == j.cfg.Ranks {
				close(j.done)
			}
		case idle || context.Cause(ctx) == errEnough:
		default:
			j.errs = append(j.errs, err)
		}
	})
}

// attempt runs one attempt, as its process would.
func (j *job) attempt(ctx context.Context, a *attempt) error {
	cfg := allreduce.Config{
		Server: j.server, Job: protocol.Job{UniqueID: 1, RunKey: "speculation"}, Rank: a.rank, Total: j.cfg.Ranks, Network: j.cfg.network,
		Listen: "127.0.0.1:0", OnLoss: allreduce.Wait, NoSharedMemory: true, Heartbeat: 100 * time.Millisecond, Log: j.cfg.Log,
	}
	if j.duplicates {
		cfg.SlowFactor = slowFactor
	}
	g, err := allreduce.Join(ctx, cfg)
	if err != nil {
		return err
	}
	defer g.Close()
	m := newMachine(a.rank, j.cfg)
	rng := rand.New(rand.NewPCG(j.cfg.Seed, uint64(a.rank)))
	m.pass = func(n int) time.Duration {
		d := float64(j.cfg.Pass) * (1 + jitter*(2*rng.Float64()-1))
		if from, slow := j.slowFrom[a.rank]; slow && !a.duplicate && n >= from {
			d *= j.cfg.Factor
		}
		return time.Duration(d)
	}
	m.working = func(since time.Time) { j.working(a, since) }
	m.committed = func(n int, ready time.Time) { j.committed(a, n, ready) }
	if err := g.Run(ctx, m); err != nil {
		return err
	}
	digest := m.digest()
	j.mu.Lock()
	j.digests[digest] = true
	j.mu.Unlock()
	return g.Finish(ctx, digest, nil, nil)
}

// working records that an attempt's pass begins, or with zero, that it ends.
func (j *job) working(a *attempt, since time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if since.IsZero() {
		j.took = append(j.took, time.Since(a.since))
	}
	a.since = since
}

// committed records the end of a pass of a rank.
func (j *job) committed(a *attempt, n int, ready time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := time.Now()
	j.passes[n-1][a.rank] = entry{ready: ready, end: now, attempt: a}
	if now.After(j.ends[n-1]) {
		j.ends[n-1] = now
	}
}

// launch starts one other attempt of each rank whose pass lasts much longer than those of the
// others.
func (j *job) launch(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-j.done:
			return
		case <-ticker.C:
		}
		for _, rank := range j.lagging() {
			j.start(ctx, rank, true)
		}
	}
}

// lagging returns the ranks that need another attempt and have none.
func (j *job) lagging() (ranks []int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if 2*len(j.took) < j.cfg.Ranks {
		return nil // no pass has ended, so its duration is not known
	}
	slices.Sort(j.took)
	limit := time.Duration(lagging * float64(j.took[len(j.took)/2]))
	for _, a := range j.attempts {
		twice := slices.ContainsFunc(j.attempts, func(b *attempt) bool { return b.duplicate && b.rank == a.rank })
		if !twice && !a.since.IsZero() && time.Since(a.since) > limit {
			ranks = append(ranks, a.rank)
		}
	}
	return ranks
}
