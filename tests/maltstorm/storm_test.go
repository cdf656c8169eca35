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
	"strings"
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

// strike is a fault of a rank.
type strike struct {
	kind  string // kill, stop, part or garble
	rank  int
	other int // the second rank of a partition
	after time.Duration
	lasts time.Duration // of a stop or a partition
}

func (s strike) String() string {
	switch s.kind {
	case "part":
		return fmt.Sprintf("part of ranks %d and %d after %v for %v", s.rank, s.other, s.after, s.lasts)
	case "stop":
		return fmt.Sprintf("SIGSTOP to rank %d after %v for %v", s.rank, s.after, s.lasts)
	}
	return fmt.Sprintf("%s of rank %d after %v", s.kind, s.rank, s.after)
}

// concerns reports whether a fault may end a rank. Damage may end all connections of a rank, and so any rank.
func (s strike) concerns(rank int) bool {
	return s.rank == rank || s.kind == "part" && s.other == rank || s.kind == "garble"
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
	for i := range 1 + rng.IntN(2) {
		s := strike{rank: rng.IntN(j.Total), after: time.Duration(rng.IntN(900)) * time.Millisecond, lasts: time.Duration(1+rng.IntN(6)) * time.Second}
		s.other = (s.rank + 1 + rng.IntN(j.Total-1)) % j.Total
		s.kind = []string{"kill", "stop", "part", "garble"}[rng.IntN(4)]
		if i == 0 { // each kind in each few jobs
			s.kind = []string{"kill", "part", "start", "garble", "stop"}[n%5]
		}
		if s.kind == "start" {
			s.kind, s.after, j.early = "kill", time.Duration(rng.IntN(80))*time.Millisecond, true
		}
		strikes = append(strikes, s)
	}
	if j.early && j.OnLoss == malt.Shrink {
		j.Within = startWithin // the others wait so long for a rank that is killed before it has joined
	}
	return j, strikes
}

// startWithin is the time in which the ranks of some jobs must join.
const startWithin = 10 * time.Second

// TestStorm runs drawn jobs. STORM is their number, STORM_SEED the seed, and STORM_ONLY the number of a single job.
func TestStorm(t *testing.T) {
	usual := 4
	if testing.Short() {
		usual = 2
		t.Log("sampled: 2 of 4 jobs")
	}
	seed, jobs := uint64(number("STORM_SEED", 1)), number("STORM", usual)
	only := number("STORM_ONLY", -1)
	server := serve(t)
	all := storm{limit: hangs, kinds: map[string]int{}}
	calm := map[string]float64{} // the loss without faults, by kind of job
	for n := range uint64(jobs) {
		if only >= 0 && n != uint64(only) {
			continue
		}
		j, strikes := drawJob(seed, n, server)
		kind := fmt.Sprint(j.Graph, j.Sync, j.Total)
		want, ok := calm[kind]
		if !ok {
			quiet, _ := drawJob(seed, n, server)
			quiet.Job, quiet.RunKey, quiet.Within = quiet.Job+1<<32, quiet.RunKey+"-quiet", 0
			want = slices.Max(quiet.train(t))
			calm[kind] = want
		}
		all.run(t, fmt.Sprintf("STORM_SEED=%d job %d", seed, n), j, strikes, want)
	}
	t.Log(&all)
}

// storm runs jobs with faults, one after the other, and counts what happens to them.
type storm struct {
	limit time.Duration // after which a job counts as hanging

	kinds                                              map[string]int
	jobs, missed, lost, replaced, early, refused, hung int
	worst                                              float64 // relative difference of a loss
}

func (s *storm) String() string {
	return fmt.Sprintf("%d jobs: %v, %d of them too late, %d attempts lost, %d replaced, %d jobs hit at the start, %d of which did not start, %d jobs hung, largest difference of the loss %.2f %%",
		s.jobs, s.kinds, s.missed, s.lost, s.replaced, s.early, s.refused, s.hung, 100*s.worst)
}

// run runs a job with its faults. want is the loss of the job without them.
func (s *storm) run(t *testing.T, name string, j *job, strikes []strike, want float64) {
	t.Helper()
	name = fmt.Sprintf("%s: %v, %s, %s, %d ranks, %v", name, j.OnLoss, j.Graph, j.Sync, j.Total, strikes)
	ctx, cancel := context.WithTimeoutCause(context.Background(), s.limit, errors.New("the job hangs"))
	defer cancel()
	p := newProxy(t, j.Job-1)
	defer p.close()
	if slices.ContainsFunc(strikes, func(s strike) bool { return s.kind == "part" || s.kind == "garble" }) {
		j.Proxy = p.l.Addr().String()
	}
	var strikers sync.WaitGroup
	for _, x := range strikes {
		s.kinds[x.kind]++
		strikers.Go(func() { j.strike(ctx, p, x, &s.missed) })
	}
	outcomes := j.run(ctx)
	if ctx.Err() != nil {
		s.hung++
		t.Errorf("%s: it hangs", name)
		for rank, o := range outcomes {
			t.Logf("rank %d: %v\n%s", rank, o.err, o.text)
		}
	}
	cancel()
	strikers.Wait()
	s.jobs, s.lost, s.replaced = s.jobs+1, s.lost+j.lost, s.replaced+j.replaced
	shares, left, unstarted, written := data(j.Total), 0, 0, uint64(0)
	for rank, o := range outcomes {
		hit := slices.ContainsFunc(strikes, func(s strike) bool { return s.concerns(rank) })
		switch {
		case o.err != nil && !named(o.err):
			t.Errorf("%s: rank %d: the error names no rank and no signal: %v\n%s", name, rank, o.err, o.text)
		case o.err != nil && j.Within > 0 && strings.Contains(o.err.Error(), "the job does not start"):
			unstarted++
		case o.err != nil && !hit:
			t.Errorf("%s: rank %d has no fault: %v\n%s", name, rank, o.err, o.text)
		case o.err != nil || o.Finished:
		default:
			left++
			difference := math.Abs(loss(o.Model, shares)-want) / want
			s.worst = max(s.worst, difference)
			if difference > 0.02 {
				t.Errorf("%s: the loss of rank %d is %.4f, without faults %.4f", name, rank, loss(o.Model, shares), want)
			}
			written += o.Written
		}
	}
	if j.Verbs && written == 0 {
		t.Errorf("%s: no rank has written an update through its device", name)
	}
	if j.early {
		s.early++
	}
	if unstarted > 0 {
		s.refused++
	}
	if left == 0 && unstarted == 0 {
		t.Errorf("%s: no rank is left", name)
	}
}

// named reports whether an error of a rank has a signal or the number of a rank.
func named(err error) bool {
	return strings.Contains(err.Error(), "signal: killed") || strings.Contains(err.Error(), "malt: rank ")
}

// strike begins a fault, and ends it: its time counts from the beginning of training, in some jobs from that of the processes.
func (j *job) strike(ctx context.Context, p *proxy, s strike, missed *int) {
	if !j.early {
		select {
		case <-j.begun:
		case <-ctx.Done():
			return
		}
	}
	time.Sleep(s.after)
	late := false
	switch s.kind {
	case "kill":
		late = !j.signal(s.rank, syscall.SIGKILL)
		for tries := 0; late && j.early && tries < 100; tries++ { // the process does not run yet
			time.Sleep(10 * time.Millisecond)
			late = !j.signal(s.rank, syscall.SIGKILL)
		}
	case "stop":
		if late = !j.signal(s.rank, syscall.SIGSTOP); late {
			break
		}
		select {
		case <-time.After(s.lasts):
		case <-ctx.Done():
		}
		j.signal(s.rank, syscall.SIGCONT)
	case "part":
		p.part(ctx, s.rank, s.other, s.lasts)
	case "garble":
		p.garble(s.rank, 3)
	}
	if late {
		j.mu.Lock()
		*missed++
		j.mu.Unlock()
	}
}
