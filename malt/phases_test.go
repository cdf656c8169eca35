// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gvw-project/gvw/malt/graph"
)

// TestPhasesEndAfterLosses runs programs that exchange two vectors a round, pass a barrier now and then, and average a
// third vector after the last round. All but the lost ranks come to the end, wherever a loss interrupts them: a rank
// that has passed a call which others have not never waits for them in the next one.
func TestPhasesEndAfterLosses(t *testing.T) {
	for seed := range seeds(t, "GVW_PHASE_SEEDS", 200, 20) {
		bubble(t, fmt.Sprint(seed), func(t *testing.T) { newPhases(t, uint64(seed)).run() })
	}
}

// phases is a drawn job.
type phases struct {
	t      *testing.T
	policy OnLoss
	graphs [2]string
	syncs  [2]string
	losses map[int]time.Duration // by rank: since it has joined
	pauses []time.Duration       // before a call, by rank
	c      *cluster
}

const (
	phaseRounds  = 40
	phaseBarrier = 7 // rounds between barriers
)

func newPhases(t *testing.T, seed uint64) *phases {
	rng := rand.New(rand.NewPCG(seed, 3))
	total := 2 + rng.IntN(5)
	p := &phases{t: t, policy: []OnLoss{Shrink, Grow, Wait}[rng.IntN(3)], losses: map[int]time.Duration{}}
	for i := range p.graphs {
		p.graphs[i] = graph.Names()[rng.IntN(len(graph.Names()))]
		p.syncs[i] = []string{"bsp", "bsp", "ssp:1", "notify_ack"}[rng.IntN(4)]
	}
	for range total {
		p.pauses = append(p.pauses, time.Duration(rng.IntN(5000))*time.Microsecond)
	}
	for range 1 + rng.IntN(2) {
		p.losses[rng.IntN(total)] = time.Duration(rng.IntN(300)) * time.Millisecond
	}
	p.c = newCluster(t, total, Config{OnLoss: p.policy, Job: Job{UniqueID: 7, RunKey: "phases"}})
	return p
}

func (p *phases) String() string {
	return fmt.Sprintf("%v with %d ranks, graphs %v, %v, losses %v, pauses %v", p.policy, len(p.pauses), p.graphs, p.syncs, p.losses, p.pauses)
}

func (p *phases) run() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	lost := make([]bool, len(p.pauses))
	errs := p.c.each(func(g *Group) error {
		after, loses := p.losses[g.Rank()]
		if !loses {
			return p.train(ctx, g)
		}
		within, kill := context.WithTimeout(ctx, after)
		defer kill()
		err := p.train(within, g)
		if within.Err() == nil {
			return err
		}
		rank := g.Rank()
		lost[rank] = true
		g.Close()
		if p.policy == Shrink {
			return nil
		}
		time.Sleep(restartAfter)
		if g, err = p.c.join(rank, p.c.fabric.Host(fmt.Sprintf("again%d", rank))); err != nil {
			return err
		}
		return p.train(ctx, g)
	})
	survivors := 0
	for rank, err := range errs {
		switch {
		case err == nil && !lost[rank]:
			survivors++
		case err != nil && !lost[rank]:
			p.t.Errorf("%v: rank %d: %v", p, rank, err)
		}
	}
	if survivors+len(p.losses) < len(p.pauses) {
		p.t.Errorf("%v: %d ranks came to the end", p, survivors)
	}
}

// train is the program of one rank. One that has joined late continues each vector in its round.
func (p *phases) train(ctx context.Context, g *Group) error {
	var vectors []*Vector[float32]
	for i := range p.graphs {
		v, err := NewVector[float32](g, fmt.Sprint("v", i), 8, VectorConfig{ObjectConfig: ObjectConfig{Graph: p.graphs[i], Sync: p.syncs[i]}})
		if err != nil {
			return err
		}
		vectors = append(vectors, v)
	}
	last, err := NewVector[float32](g, "last", 8, VectorConfig{ObjectConfig: ObjectConfig{Sync: "bsp"}})
	if err != nil {
		return err
	}
	for round := min(vectors[0].Iteration(), vectors[1].Iteration()); round < phaseRounds; round++ {
		for _, v := range vectors {
			if v.Iteration() <= round {
				if err := p.exchange(ctx, g, v); err != nil {
					return fmt.Errorf("round %d: %w", round, err)
				}
			}
		}
		if p.policy == Shrink && round%phaseBarrier == 0 {
			if err := g.Barrier(ctx); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
	}
	if last.Iteration() == 0 {
		if err := p.exchange(ctx, g, last); err != nil {
			return fmt.Errorf("the last vector: %w", err)
		}
	}
	return g.Done(ctx)
}

func (p *phases) exchange(ctx context.Context, g *Group, v *Vector[float32]) error {
	time.Sleep(p.pauses[g.Rank()])
	if err := v.Scatter(ctx); err != nil {
		return err
	}
	_, err := v.Gather(ctx, AverageIncludingSelf)
	return err
}
