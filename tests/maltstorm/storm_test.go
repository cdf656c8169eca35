// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package maltstorm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gvw-project/gvw/malt"
)

// number returns a number from the environment.
func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// strike is a signal to a rank.
type strike struct {
	rank  int
	after time.Duration
	stop  time.Duration // from SIGSTOP to SIGCONT; 0: SIGKILL
}

func (s strike) String() string {
	if s.stop == 0 {
		return fmt.Sprintf("SIGKILL to rank %d after %v", s.rank, s.after)
	}
	return fmt.Sprintf("SIGSTOP to rank %d after %v for %v", s.rank, s.after, s.stop)
}

// drawJob draws the n-th job of a seed, and its faults.
func drawJob(seed, n uint64, server string) (*job, []strike) {
	rng := rand.New(rand.NewPCG(seed, n))
	j := &job{begun: make(chan struct{}), task: task{
		Server: server, Job: n + 1, RunKey: fmt.Sprintf("storm-%d", n), Total: 3 + rng.IntN(3), Rounds: 150,
		OnLoss: []malt.OnLoss{malt.Shrink, malt.Wait, malt.Grow}[rng.IntN(3)],
		Graph:  []string{"all", "halton", "ring", "one_peer"}[rng.IntN(4)],
		Sync:   []string{"asp", "bsp", "ssp:3", "notify_ack"}[int(n)%4],
	}}
	for range j.Total {
		j.paces = append(j.paces, time.Duration(2+rng.IntN(4))*time.Millisecond)
	}
	var strikes []strike
	for range 1 + rng.IntN(2) {
		s := strike{rank: rng.IntN(j.Total), after: time.Duration(rng.IntN(900)) * time.Millisecond}
		if rng.IntN(2) == 0 {
			s.stop = time.Duration(1+rng.IntN(6)) * time.Second // about lostAfter
		}
		strikes = append(strikes, s)
	}
	return j, strikes
}

// TestStorm runs drawn jobs. STORM is their number and STORM_SEED the seed.
func TestStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("sampled: processes are killed in the run without -short")
	}
	seed, jobs := uint64(number("STORM_SEED", 1)), number("STORM", 4)
	server := serve(t)
	var kills, stops, missed, lost, replaced, hung int
	worst := 0.0
	calm := map[string]float64{} // the loss without faults, by kind of job
	for n := range uint64(jobs) {
		j, strikes := drawJob(seed, n, server)
		name := fmt.Sprintf("STORM_SEED=%d job %d: %v, %s, %s, %d ranks, %v", seed, n, j.OnLoss, j.Graph, j.Sync, j.Total, strikes)
		kind := fmt.Sprint(j.Graph, j.Sync, j.Total)
		want, ok := calm[kind]
		if !ok {
			quiet, _ := drawJob(seed, n, server)
			quiet.Job, quiet.RunKey = quiet.Job+1<<32, quiet.RunKey+"-quiet"
			want = slices.Max(quiet.train(t))
			calm[kind] = want
		}
		ctx, cancel := context.WithTimeoutCause(context.Background(), hangs, errors.New("the job hangs"))
		var strikers sync.WaitGroup
		for _, s := range strikes {
			if s.stop == 0 {
				kills++
			} else {
				stops++
			}
			strikers.Go(func() { j.strike(ctx, s, &missed) })
		}
		outcomes := j.run(ctx)
		if ctx.Err() != nil {
			hung++
			t.Errorf("%s: it hangs", name)
			for rank, o := range outcomes {
				t.Logf("rank %d: %v\n%s", rank, o.err, o.text)
			}
		}
		cancel()
		strikers.Wait()
		lost, replaced = lost+j.lost, replaced+j.replaced
		shares, left := data(j.Total), 0
		for rank, o := range outcomes {
			hit := slices.ContainsFunc(strikes, func(s strike) bool { return s.rank == rank })
			switch {
			case o.err != nil && !hit:
				t.Errorf("%s: rank %d has no fault: %v\n%s", name, rank, o.err, o.text)
			case o.err != nil || o.Finished:
			default:
				left++
				difference := math.Abs(loss(o.Model, shares)-want) / want
				worst = max(worst, difference)
				if difference > 0.02 {
					t.Errorf("%s: the loss of rank %d is %.4f, without faults %.4f", name, rank, loss(o.Model, shares), want)
				}
			}
		}
		if left == 0 {
			t.Errorf("%s: no rank is left", name)
		}
	}
	t.Logf("%d jobs: %d kills, %d stops, %d of them too late, %d attempts lost, %d replaced, %d jobs hung, largest difference of the loss %.2f %%",
		jobs, kills, stops, missed, lost, replaced, hung, 100*worst)
}

// strike sends the signals of a fault.
func (j *job) strike(ctx context.Context, s strike, missed *int) {
	select {
	case <-j.begun:
	case <-ctx.Done():
		return
	}
	time.Sleep(s.after)
	first := syscall.SIGKILL
	if s.stop > 0 {
		first = syscall.SIGSTOP
	}
	if !j.signal(s.rank, first) {
		j.mu.Lock()
		*missed++
		j.mu.Unlock()
		return
	}
	if s.stop == 0 {
		return
	}
	select {
	case <-time.After(s.stop):
	case <-ctx.Done():
	}
	j.signal(s.rank, syscall.SIGCONT)
}
