// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

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
	stop       context.CancelCauseFunc // ends all attempts

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

// attempt is a process of a rank, or a goroutine.
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
	j.stop = cancel
	for rank := range j.cfg.Ranks {
		j.start(within, rank, false)
	}
	if j.duplicates {
		j.wait.Go(func() { j.launch(within) })
	}
	select {
	case <-j.done:
	case <-within.Done(): // an attempt has failed, or ctx has ended
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
		case idle || ctx.Err() != nil: // ended because of another one
		default:
			j.errs = append(j.errs, err)
			j.stop(err)
		}
	})
}

// fault returns the fault that makes a rank slow; "" if it is healthy. It strikes the first attempt only.
func (j *job) fault(rank int) string {
	from, slow := j.slowFrom[rank]
	if !slow {
		return ""
	}
	return fmt.Sprintf("rank:%d,work:%d,slow:%g", rank, from, j.cfg.Factor)
}

// attempt runs one attempt to its end.
func (j *job) attempt(ctx context.Context, a *attempt) error {
	o := &order{
		Server: j.server, Rank: a.rank, Ranks: j.cfg.Ranks, Passes: j.cfg.Passes, Floats: j.cfg.Floats, Pass: j.cfg.Pass, Seed: j.cfg.Seed,
		Attempt: 1,
	}
	if a.duplicate {
		o.Attempt = 2
	}
	if j.duplicates {
		o.SlowFactor = slowFactor
	}
	from, slow := j.slowFrom[a.rank]
	news := reports{
		working:   func(at time.Time, on bool) { j.working(a, at, on) },
		committed: func(n int, ready, end time.Time) { j.committed(a, n, ready, end) },
	}
	var digest [32]byte
	var err error
	if j.cfg.Processes {
		digest, err = process(ctx, o, j.fault(a.rank), news)
	} else {
		digest, err = o.run(ctx, j.cfg.network, j.cfg.Log, news, func(n int) float64 {
			if slow && !a.duplicate && n >= from {
				return j.cfg.Factor
			}
			return 1
		})
	}
	if err != nil {
		return err
	}
	j.mu.Lock()
	j.digests[digest] = true
	j.mu.Unlock()
	return nil
}

// working records that the work of an attempt's pass begins, or that it has ended.
func (j *job) working(a *attempt, at time.Time, on bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if on {
		a.since = at
		return
	}
	j.took = append(j.took, at.Sub(a.since))
	a.since = time.Time{}
}

// committed records the end of a pass of a rank.
func (j *job) committed(a *attempt, n int, ready, end time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.passes[n-1][a.rank] = entry{ready: ready, end: end, attempt: a}
	if end.After(j.ends[n-1]) {
		j.ends[n-1] = end
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
