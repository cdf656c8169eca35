// SPDX-License-Identifier: Apache-2.0

package vectors

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/bench/internal/task"
	"github.com/gvw-project/gvw/learn/svm"
	"github.com/gvw-project/gvw/malt"
	"github.com/gvw-project/gvw/optim/outer"
)

// training is a job that learns a task by package svm.
type training struct {
	task.Task
	ranks    int
	graph    string
	sync     string
	slowRank int     // this rank's rate is divided by slow
	slow     float64 // 0: no rank is slow
	stall    float64 // this share of the batches takes stalled times as long
	killRank int     // this rank ends after its share kill
	kill     float64 // of its examples; 0: no rank ends
	outer    outer.Config
}

// stalled is the factor by which a batch takes longer that stalls.
const stalled = 10

// snapshots is the number of models of rank 0 that a run keeps.
const snapshots = 80

// state is what is known of a training at some time, from rank 0.
type state struct {
	after    time.Duration
	examples int // that rank 0 has learned
	bytes    int64
	weights  []float32
	value    float64 // of the objective over all examples
}

// result is what a training has come to.
type result struct {
	states []state
	pause  time.Duration // longest time between two rounds of a rank
}

// run trains, then evaluates the models of rank 0.
func (t training) run(ctx context.Context) (result, error) {
	t0, err := svm.Tune(svm.Config{Size: t.Size, Lambda: t.Lambda}, t.Examples[:min(1000, len(t.Examples))])
	if err != nil {
		return result{}, err
	}
	var r result
	var traffic atomic.Int64
	pauses := make([]time.Duration, t.ranks)
	err = job(ctx, t.ranks, malt.Config{OnLoss: malt.Shrink}, &traffic, func(rank int, g *malt.Group) error {
		l := learner{t: t, rank: rank, t0: t0}
		if rank == 0 {
			l.keep = func(s state) {
				s.bytes = traffic.Load()
				r.states = append(r.states, s)
			}
		}
		err := l.train(ctx, g)
		pauses[rank] = l.pause
		return err
	})
	if err != nil {
		return r, fmt.Errorf("%s, %d ranks, %s, %s: %w", t.Name, t.ranks, t.graph, t.sync, err)
	}
	r.pause = slices.Max(pauses)
	for i := range r.states {
		s := &r.states[i]
		m, err := svm.New(svm.Config{Size: t.Size, Lambda: t.Lambda, Weights: s.weights})
		if err != nil {
			return r, err
		}
		s.value = m.Evaluate(t.Examples).Value()
		s.weights = nil
	}
	return r, nil
}

// learner is one rank of a training.
type learner struct {
	t     training
	rank  int
	t0    float64
	keep  func(state) // of rank 0
	pause time.Duration
}

// train is the serial program with the calls of package malt.
func (l *learner) train(ctx context.Context, g *malt.Group) error {
	t := l.t
	v, err := malt.NewVector[float32](g, "w", t.Size, malt.VectorConfig{
		ObjectConfig: malt.ObjectConfig{Graph: t.graph, Sync: t.sync},
	})
	if err != nil {
		return err
	}
	m, err := svm.New(svm.Config{Size: t.Size, Lambda: t.Lambda, T0: l.t0, Weights: v.Values()})
	if err != nil {
		return err
	}
	o, err := outer.New(t.outer, v.Values())
	if err != nil {
		return err
	}
	if err := g.Barrier(ctx); err != nil {
		return err
	}
	n := len(t.Examples) / t.ranks
	share := t.Examples[l.rank*n : (l.rank+1)*n]
	rounds := t.Passes * ((n + t.Batch - 1) / t.Batch)
	every := max(1, rounds/snapshots)
	c := newClock(t.Rate, l.slow())
	rng := rand.New(rand.NewPCG(17, uint64(l.rank)))
	round, learned := 0, 0
	last := time.Now()
	for range t.Passes {
		for batch := range slices.Chunk(share, t.Batch) {
			c.begin()
			for _, ex := range batch {
				m.Update(ex)
			}
			learned += len(batch)
			took := len(batch)
			if rng.Float64() < t.stall {
				took *= stalled
			}
			c.end(took)
			if l.killed(round, rounds) {
				return errKilled
			}
			m.Finish() // the scale is 1
			if err := v.Scatter(ctx); err != nil {
				return err
			}
			if _, err := v.Gather(ctx, malt.AverageIncludingSelf); err != nil {
				return err
			}
			if !t.outer.Plain() {
				o.Step(v.Values())
			}
			round++
			now := time.Now()
			l.pause = max(l.pause, now.Sub(last))
			last = now
			if l.keep != nil && (round%every == 0 || round == rounds) {
				l.keep(state{after: c.elapsed(), examples: learned, weights: slices.Clone(v.Values())})
			}
		}
	}
	return g.Done(ctx)
}

// slow returns the factor by which this rank is slower than the others.
func (l *learner) slow() float64 {
	if l.t.slow > 0 && l.rank == l.t.slowRank {
		return l.t.slow
	}
	return 1
}

// killed reports whether this rank ends before a round.
func (l *learner) killed(round, rounds int) bool {
	return l.t.kill > 0 && l.rank == l.t.killRank && float64(round) >= l.t.kill*float64(rounds)
}

// clock holds a rank to a rate of examples.
type clock struct {
	start, batch time.Time
	example      time.Duration
}

func newClock(rate int, slow float64) *clock {
	now := time.Now()
	return &clock{now, now, time.Duration(slow * float64(time.Second) / float64(rate))}
}

// begin begins a batch.
func (c *clock) begin() { c.batch = time.Now() }

// end ends a batch of n examples: it waits until they have taken their time.
func (c *clock) end(n int) { time.Sleep(time.Until(c.batch.Add(time.Duration(n) * c.example))) }

func (c *clock) elapsed() time.Duration { return time.Since(c.start) }

// reach returns the first state whose objective is at most a goal.
func (r result) reach(goal float64) (s state, ok bool) {
	i := slices.IndexFunc(r.states, func(s state) bool { return s.value <= goal })
	if i < 0 {
		return state{}, false
	}
	return r.states[i], true
}

// best returns the least objective.
func (r result) best() float64 {
	return slices.MinFunc(r.states, func(a, b state) int { return cmp.Compare(a.value, b.value) }).value
}

// last returns the objective at the end.
func (r result) last() float64 { return r.states[len(r.states)-1].value }

// passed returns the passes over all examples that the ranks have made together.
func (t training) passed(s state) float64 {
	return float64(s.examples*t.ranks) / float64(len(t.Examples))
}

// mebibytes returns the traffic so far.
func (s state) mebibytes() float64 { return float64(s.bytes) / (1 << 20) }
