// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/malt/graph"
)

// TestStorm trains a small convex model with drawn graphs, synchronies, loss policies and faults: kills, stops,
// partitions and damaged bytes. No job hangs, ranks without a fault come to the end, and each model that is
// left has a loss within 2 % of that of the same job without faults. GVW_STORM_SEEDS is the number of jobs.
func TestStorm(t *testing.T) {
	storms(t, seeds(t, "GVW_STORM_SEEDS", 60, 10), func(*testing.T) (Config, func()) { return Config{}, nil })
}

// storms runs drawn jobs with the ways of a configuration. If ways returns a function, a fault of some jobs calls it.
func storms(t *testing.T, jobs int, ways func(t *testing.T) (Config, func())) *tally {
	var all tally
	for seed := range jobs {
		bubble(t, fmt.Sprint(seed), func(t *testing.T) {
			cfg, _ := ways(t)
			calm := newStorm(t, uint64(seed), cfg, nil)
			want := slices.Max(calm.run(false))
			cfg, fail := ways(t)
			rough := newStorm(t, uint64(seed), cfg, fail)
			for _, got := range rough.run(true) {
				difference := math.Abs(got-want) / want
				all.worst = max(all.worst, difference)
				if difference > 0.02 {
					t.Errorf("%v: a survivor's loss is %.4f, without faults %.4f", rough, got, want)
				}
			}
			all.add(rough)
		})
	}
	t.Logf("%d jobs: %v", jobs, &all)
	return &all
}

// tally counts what a storm has done.
type tally struct {
	faults         map[string]int
	lost, replaced int
	worst          float64 // largest relative difference of a survivor's loss
	sent, written  uint64  // updates; written into the memory of their receivers
}

func (a *tally) add(s *storm) {
	if a.faults == nil {
		a.faults = map[string]int{}
	}
	for _, f := range s.faults {
		a.faults[f.kind]++
	}
	a.lost += s.lost
	a.replaced += s.replaced
	a.sent, a.written = a.sent+s.sent, a.written+s.written
}

func (a *tally) String() string {
	return fmt.Sprintf("faults %v, %d attempts lost, %d replaced, %d updates, %d of them written into memory, largest difference of the loss %.2f %%",
		a.faults, a.lost, a.replaced, a.sent, a.written, 100*a.worst)
}

// disturbance is a drawn fault.
type disturbance struct {
	kind  string // kill, stop, part, damage, or fail of all devices
	ends  [2]int // ranks; only part has two
	from  time.Duration
	lasts time.Duration
}

func (d disturbance) String() string {
	return fmt.Sprintf("%s of %v after %v for %v", d.kind, d.ends, d.from, d.lasts)
}

// storm is a drawn job.
type storm struct {
	t      *testing.T
	seed   uint64
	policy OnLoss
	config ObjectConfig
	faults []disturbance
	pauses []time.Duration // of a round, by rank
	data   regression
	c      *cluster
	fail   func() // breaks all connections of devices; nil: none

	mu       sync.Mutex
	hosts    []string // of the newest attempt, by rank
	stop     []context.CancelFunc
	noise    []*noise
	lost     int
	replaced int
	sent     uint64
	written  uint64
}

const (
	stormRounds  = 60
	restartAfter = 500 * time.Millisecond // a launcher's pause
	maxAttempts  = 8
)

func newStorm(t *testing.T, seed uint64, cfg Config, fail func()) *storm {
	rng := rand.New(rand.NewPCG(seed, 11))
	total := 3 + rng.IntN(5)
	s := &storm{
		t: t, seed: seed, policy: []OnLoss{Shrink, Wait, Grow}[rng.IntN(3)],
		config: ObjectConfig{
			Graph: graph.Names()[rng.IntN(len(graph.Names()))],
			Sync:  []string{"asp", "bsp", "ssp:3", "notify_ack"}[rng.IntN(4)],
			Full:  Full(rng.IntN(2)),
		},
		data: newRegression(rng, total), hosts: make([]string, total), stop: make([]context.CancelFunc, total), noise: make([]*noise, total),
	}
	for rank := range total {
		s.pauses = append(s.pauses, time.Duration(1+rng.IntN(4))*time.Millisecond)
		s.noise[rank] = &noise{rng: rand.New(rand.NewPCG(seed, uint64(rank)))}
	}
	for range 1 + rng.IntN(3) {
		s.faults = append(s.faults, disturbance{
			kind: []string{"kill", "kill", "stop", "part", "damage"}[rng.IntN(5)],
			ends: [2]int{1 + rng.IntN(total-1), rng.IntN(total)}, // rank 0 is neither killed nor stopped
			from: time.Duration(1+rng.IntN(150)) * time.Millisecond, lasts: time.Duration(rng.IntN(60)) * time.Second,
		})
	}
	if s.fail = fail; fail != nil && rng.IntN(3) == 0 {
		s.faults = append(s.faults, disturbance{kind: "fail", from: time.Duration(1+rng.IntN(150)) * time.Millisecond})
	}
	cfg.OnLoss, cfg.Job = s.policy, Job{UniqueID: 7, RunKey: "storm"}
	s.c = newCluster(t, total, cfg)
	return s
}

func (s *storm) String() string {
	return fmt.Sprintf("seed %d, %v, %s, %s, %d ranks, %v", s.seed, s.policy, s.config.Graph, s.config.Sync, len(s.hosts), s.faults)
}

// run trains, and returns the losses of the models that are left.
func (s *storm) run(faults bool) (losses []float64) {
	begun := time.Now()
	models := make([][]float64, len(s.hosts))
	errs := make([]error, len(s.hosts))
	var ranks, disturbers sync.WaitGroup
	for rank := range s.hosts {
		ranks.Go(func() { models[rank], errs[rank] = s.launch(rank) })
	}
	if faults {
		for _, d := range s.faults {
			disturbers.Go(func() { s.disturb(d) })
		}
	}
	ranks.Wait()
	if took := time.Since(begun); took > 20*time.Minute {
		s.t.Errorf("%v: took %v of virtual time", s, took)
	}
	disturbers.Wait()
	for rank, err := range errs {
		switch {
		case err == nil && models[rank] != nil:
			losses = append(losses, s.data.loss(models[rank]))
		case err != nil && s.healthy(rank):
			s.t.Errorf("%v: rank %d has no fault: %v", s, rank, err)
		}
	}
	if len(losses) == 0 {
		s.t.Errorf("%v: no rank is left: %v", s, errs)
	}
	return losses
}

// healthy reports whether no fault concerns a rank. Damage may concern all connections of a rank.
func (s *storm) healthy(rank int) bool {
	return !slices.ContainsFunc(s.faults, func(d disturbance) bool {
		return d.ends[0] == rank || d.kind == "part" && d.ends[1] == rank || d.kind == "damage" || d.kind == "fail"
	})
}

// launch runs attempts of a rank as a launcher does. It returns the model of the one that comes to the end; nil if
// the others had finished without it.
func (s *storm) launch(rank int) (model []float64, err error) {
	for attempt := range maxAttempts {
		host := fmt.Sprintf("h%d", rank)
		if attempt > 0 {
			host = fmt.Sprintf("h%d.%d", rank, attempt)
		}
		ctx, cancel := context.WithCancel(context.Background())
		s.mu.Lock()
		s.hosts[rank], s.stop[rank] = host, cancel
		s.mu.Unlock()
		model, err = s.attempt(ctx, rank, host)
		cancel()
		if err == nil || errors.Is(err, ErrFinished) {
			return model, nil
		}
		s.mu.Lock()
		s.lost++
		if s.policy != Shrink {
			s.replaced++
		}
		s.mu.Unlock()
		if s.policy == Shrink {
			break
		}
		time.Sleep(restartAfter)
	}
	return nil, err
}

// attempt joins the job and trains.
func (s *storm) attempt(ctx context.Context, rank int, host string) (model []float64, err error) {
	network := noisy{s.c.fabric.Host(host), s.c.server, s.noise[rank]}
	g, err := s.c.joinContext(ctx, rank, network)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	v, err := NewVector[float64](g, "v", s.data.width, VectorConfig{ObjectConfig: s.config})
	if err != nil {
		return nil, err
	}
	err = g.Protect(func() error {
		for v.Iteration() < stormRounds {
			time.Sleep(s.pauses[rank])
			s.data.step(v.Values(), g.Shares(), len(g.Members()), float64(v.Iteration()))
			if err := v.Scatter(ctx); err != nil {
				return err
			}
			if _, err := v.Gather(ctx, AverageIncludingSelf); err != nil {
				return err
			}
		}
		return g.Done(ctx)
	})
	stats := v.Stats()
	s.mu.Lock()
	s.sent, s.written = s.sent+stats.Sent, s.written+stats.Written
	s.mu.Unlock()
	return slices.Clone(v.Values()), err
}

// disturb begins a fault, and ends it.
func (s *storm) disturb(d disturbance) {
	time.Sleep(d.from)
	s.mu.Lock()
	a, b, kill := s.hosts[d.ends[0]], s.hosts[d.ends[1]], s.stop[d.ends[0]]
	s.mu.Unlock()
	n := s.c.fabric
	switch {
	case d.kind == "kill":
		n.Kill(a)
		kill()
	case d.kind == "stop":
		n.Hold(a, true)
		time.Sleep(d.lasts)
		n.Hold(a, false)
	case d.kind == "part" && a != b:
		n.Part(a, b, true)
		time.Sleep(d.lasts)
		n.Part(a, b, false)
	case d.kind == "damage":
		s.noise[d.ends[0]].begin(3)
	case d.kind == "fail":
		s.fail()
	}
}

// regression is a least-squares problem of which each rank has a share.
type regression struct {
	width  int
	shares [][]sample
}

type sample struct {
	x []float64
	y float64
}

// newRegression draws shares of 1000 examples each.
func newRegression(rng *rand.Rand, shares int) regression {
	p := regression{width: 3, shares: make([][]sample, shares)}
	truth := make([]float64, p.width)
	for i := range truth {
		truth[i] = rng.NormFloat64()
	}
	for share := range p.shares {
		for range 1000 {
			e := sample{x: make([]float64, p.width), y: 0.7 * rng.NormFloat64()}
			for i := range e.x {
				e.x[i] = rng.NormFloat64()
				e.y += truth[i] * e.x[i]
			}
			p.shares[share] = append(p.shares[share], e)
		}
	}
	return p
}

// step makes a gradient step on some shares. Each share has the same weight, however many a rank has.
func (p regression) step(w []float64, shares []int, members int, iteration float64) {
	gradient := make([]float64, len(w))
	for _, share := range shares {
		for _, e := range p.shares[share] {
			d := e.error(w) / float64(len(p.shares[share]))
			for i, x := range e.x {
				gradient[i] += d * x
			}
		}
	}
	rate := 0.4 / (1 + iteration/20) * float64(members) / float64(len(p.shares))
	for i := range w {
		w[i] -= rate * gradient[i]
	}
}

func (e sample) error(w []float64) float64 {
	d := -e.y
	for i, x := range e.x {
		d += w[i] * x
	}
	return d
}

// loss returns the mean squared error on all shares.
func (p regression) loss(w []float64) float64 {
	sum, n := 0.0, 0
	for _, share := range p.shares {
		for _, e := range share {
			d := e.error(w)
			sum += d * d
			n++
		}
	}
	return sum / float64(n)
}
