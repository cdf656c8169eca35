// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"context"
	"math"
	"sync"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/sgd"
)

// Replicas configures replicas of the learner, which learn at the same time, each with its own table of weights.
type Replicas struct {
	N     int  // number of replicas; 0 or 1: the learner learns alone
	Every int  // examples of each replica between two merges; 0: by features, see roundFeatures
	Blank bool // all weights are 0 at the start of the first pass
}

const (
	// roundFeatures is the number of features of all replicas together between two merges, by default. bench/README.md has
	// the measurements.
	roundFeatures = 1 << 16
	// blockExamples is the largest number of consecutive examples of a replica where Replicas.Every is set.
	blockExamples = 1024
)

// replicate makes a pass in which replicas of the learner learn from blocks of examples, in turns. Which replica learns from
// an example depends on the examples before it in the pass only, and so do all results.
func (m *Online) replicate(ctx context.Context) error {
	c := &replicated{online: m, seen: m.Tally.Seen, features: m.Replicas.Every == 0}
	n := m.Replicas.N
	if m.replicas == nil {
		m.replicas = sgd.NewReplicas(m.learner, n)
		c.fresh = m.Replicas.Blank
		m.merged = c.fresh
	}
	c.all = m.replicas
	c.round, c.block = m.Replicas.Every, blockExamples
	if c.features {
		c.round, c.block = roundFeatures/n, roundFeatures
	}
	c.block = max(1, min(c.block, c.round))
	c.round = max(n, min(c.round, math.MaxInt/n)*n)
	c.all.Begin()
	c.start()
	defer c.end()
	if !m.merged {
		c.runAll(c.all.Copy, c.all.Unmark)
	}
	m.merged = m.Job.Total == 1 // otherwise the average of the ranks changes the weights
	err := m.Read.Lots(ctx, 4*n, c.deal, func(l *examples.Lot, i int) error {
		if m.divergedAt(l, i) {
			c.end() // the error that book returns has a weight, which a replica could change
		}
		return m.book(l, i)
	})
	if err == nil {
		c.merge()
	}
	return err
}

// replicated are the goroutines of the replicas in a pass.
type replicated struct {
	online  *Online
	all     *sgd.Replicas
	threads sync.WaitGroup
	work    []chan task // of each replica; nil after end

	features     bool // round and block count features instead of examples
	round, block int  // of all replicas between two merges, and of one replica at a time
	fresh        bool // no example has been dealt, and all weights are 0

	seen            loss.Range // of the labels of all examples dealt
	current         int        // replica of the current block
	inRound, inTurn int
}

// task is some work of a replica: examples of a lot, or the steps of a barrier.
type task struct {
	lot      *examples.Lot
	from, to int
	seen     loss.Range
	barrier  *barrier // nil: the examples
}

// barrier is work of all replicas in steps. No replica begins a step before all have ended the previous one.
type barrier struct {
	steps []func(i int)
	ends  []sync.WaitGroup // of each step
}

func (c *replicated) start() {
	c.work = make([]chan task, len(c.all.Learners))
	for i, learner := range c.all.Learners {
		work := make(chan task, 64)
		c.work[i] = work
		c.threads.Go(func() {
			for t := range work {
				if t.barrier != nil {
					t.barrier.take(i)
					continue
				}
				learner.Range = t.seen
				c.online.process(learner, t.lot, t.from, t.to)
				t.lot.Done()
			}
		})
	}
}

// end ends the replicas after the work that they have. It is idempotent.
func (c *replicated) end() {
	for _, work := range c.work {
		close(work)
	}
	c.work = nil
	c.threads.Wait()
}

// runAll queues steps that all replicas take after the work that they have.
func (c *replicated) runAll(steps ...func(i int)) {
	b := &barrier{steps: steps, ends: make([]sync.WaitGroup, len(steps))}
	for k := range b.ends {
		b.ends[k].Add(len(c.work))
	}
	for _, work := range c.work {
		work <- task{barrier: b}
	}
}

// take takes the steps of replica i.
func (b *barrier) take(i int) {
	for k, step := range b.steps {
		step(i)
		b.ends[k].Done()
		b.ends[k].Wait()
	}
}

// merge merges the replicas after the work that they have.
func (c *replicated) merge() {
	c.runAll(c.all.Split, func(i int) {
		if i == 0 {
			c.all.Total()
		}
		c.all.Merge(i)
	}, c.all.Sync)
	c.current, c.inRound, c.inTurn = 0, 0, 0
}

// deal deals the examples of a lot to the replicas. A replica that is behind makes it wait. None waits for it.
func (c *replicated) deal(l *examples.Lot) {
	if c.fresh {
		for _, learner := range c.all.Learners {
			learner.Expect(l.Batch.Features)
		}
		c.fresh = false
	}
	n := len(l.Held)
	l.Split(n + 1) // more than there are parts
	parts := 0
	for from := 0; from < n; parts++ {
		t := task{lot: l, from: from, seen: c.seen}
		for t.to = from; t.to < n && c.inTurn < c.block && c.inRound < c.round; t.to++ {
			c.count(&l.Batch.Examples[t.to], l.Held[t.to])
		}
		c.work[c.current] <- t
		if c.inTurn >= c.block {
			c.current, c.inTurn = (c.current+1)%len(c.work), 0
		}
		if c.inRound >= c.round {
			c.merge()
		}
		from = t.to
	}
	for range n + 1 - parts {
		l.Done()
	}
}

// count counts an example that is dealt.
func (c *replicated) count(ex *feature.Example, held bool) {
	size := 1
	if c.features {
		size = int(ex.FeatHi - ex.FeatLo)
	}
	c.inTurn += size
	c.inRound += size
	if ex.Labeled() && !held && !c.online.Tally.Fixed {
		c.seen = c.seen.Include(ex.Label) // as Tally.Observe does, which books the example later
	}
}
