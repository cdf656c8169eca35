// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"context"
	"sync"

	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/sgd"
)

// together makes a pass in which OnlineConfig.Threads goroutines learn without locks from batches of examples. This
// goroutine books their predictions in the order of the data.
func (m *Online) together(ctx context.Context) error {
	crew := sgd.NewCrew(m.learner, m.Threads)
	type job struct {
		lot  *examples.Lot
		seen loss.Range // of the labels so far
	}
	ahead := 2 * m.Threads
	jobs := make(chan job, ahead) // never full: at most ahead lots are under way
	var threads sync.WaitGroup
	for i, learner := range crew.Learners {
		threads.Go(func() {
			for j := range jobs {
				learner.Range = j.seen
				m.process(learner, j.lot, 0, len(j.lot.Held))
				crew.Sync(i)
				j.lot.Done()
			}
		})
	}
	defer threads.Wait()
	defer close(jobs)
	fresh := m.done == 0 && !m.Tally.TestOnly
	start := func(l *examples.Lot) {
		if fresh {
			m.learner.Expect(l.Batch.Features)
			fresh = false
		}
		jobs <- job{lot: l, seen: m.Tally.Seen}
	}
	return m.Read.Lots(ctx, ahead, start, m.book)
}

// process predicts examples from to to of a lot, and learns from those that are not held out.
func (m *Online) process(learner *sgd.Learner, l *examples.Lot, from, to int) {
	var next lookahead
	for i := from; i < to; i++ {
		held := l.Held[i]
		ex := &l.Batch.Examples[i]
		fs, s := l.Batch.FeaturesOf(ex), &l.Scores[i]
		if ex.Labeled() && !held && !m.Tally.Fixed {
			learner.Range = learner.Range.Include(ex.Label) // as Tally.Observe does, which books the example later
		}
		learner.Prefetch(next.after(l.Batch, ex))
		if m.Tally.Learns(held) {
			s.Raw, s.Clipped, s.Loss = learner.Learn(fs, ex)
		} else {
			s.Raw, s.Clipped = learner.Predict(fs, ex.Initial)
		}
	}
}

// book books the prediction of an example of a lot. As in a pass of one goroutine, an example that is only predicted
// has the range of all labels before it.
func (m *Online) book(l *examples.Lot, i int) error {
	t, ex, held, s := m.Tally, &l.Batch.Examples[i], l.Held[i], l.Scores[i]
	t.Observe(ex, held)
	learns := t.Learns(held)
	t.Calls.Count(ex, learns)
	switch {
	case learns:
		if m.divergedAt(l, i) {
			return diverged(m.Read, t.Passes+1, l.Batch, ex, divergence(ex, s.Raw, s.Loss), m.learner, output.OwnPlace, 1)
		}
	default:
		if s.Clipped = t.Seen.Clip(s.Raw); ex.Labeled() {
			s.Loss = t.Loss.Loss(t.Seen, s.Clipped, ex.Label)
		}
	}
	if t.Binary {
		s.Clipped = t.Seen.Clip(s.Raw)
	}
	return t.Account(l.Batch, ex, held, s.Raw, s.Clipped, s.Loss)
}

// divergedAt reports whether training has diverged at an example of a lot, so that book returns an error.
func (m *Online) divergedAt(l *examples.Lot, i int) bool {
	s := l.Scores[i]
	return m.Tally.Learns(l.Held[i]) && hasDiverged(s.Raw, s.Loss) && allFinite(l.Batch, &l.Batch.Examples[i])
}
