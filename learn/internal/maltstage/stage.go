// SPDX-License-Identifier: Apache-2.0

package maltstage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/learn/internal/sgdstage"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/learn/internal/training"
	"github.com/gvw-project/gvw/malt"
)

// Stage is training by passes over the shard with shared vectors. Its only step has all passes.
type Stage struct {
	Passes
	online *sgdstage.Online
	config Config
	join   malt.Config
	done   bool
	// classified returns an error with its class, for the cause of the job's failure.
	classified func(error) error
	empty      bool       // this process has joined after the end of all passes, and has no weights
	outer      outerState // with an outer optimiser, in a job that replaces lost ranks

	Exchanged func(Exchanged) // called after each pass and at the end, with what this rank has exchanged; nil: no call
}

// Exchanged is what a rank has exchanged since it has joined the job of the shared vectors.
type Exchanged struct {
	Began   time.Time // when it has joined
	Rounds  uint64    // updates sent to each receiver
	Updates malt.Stats
	Edges   []malt.EdgeTraffic
}

// exchanged returns a function that reports what has been exchanged until its call.
func (s *Stage) exchanged(g *malt.Group, v *malt.Vector[float32]) func() {
	if s.Exchanged == nil {
		return func() {}
	}
	began := time.Now()
	return func() {
		s.Exchanged(Exchanged{Began: began, Rounds: v.Iteration(), Updates: v.Stats(), Edges: g.Traffic()})
	}
}

// Passes is a stage whose passes need not be steps, *sgdstage.Online or *sgdstage.Classes.
type Passes interface {
	Exchange(ctx context.Context, g *allreduce.Group) error
	Finish() (training.Outcome, error)
	Shared(c *snapshot.Coder)
	SharedArrays() []snapshot.Array
	Own(c *snapshot.Coder)
	Adopt() error
	Shrink() (void bool, err error)
	Outcome(c *snapshot.Coder)
	OutcomeArrays() []snapshot.Array

	OwnPass(ctx context.Context, mixer sgdstage.Mixer) error
	EmptyPass()
	SkipExamples(n uint64)
	Sums(dst []float64) []float64
	SetSums(sums []float64)
	CommitOwnPasses() error
}

var (
	_ Passes = (*sgdstage.Online)(nil)
	_ Passes = (*sgdstage.Classes)(nil)
)

// New returns the stage of a learner, which makes the passes. online has its weights and settings. The configuration
// has no faults. join has the job of the shared vectors, which is not the job of the step. classified adds the class to an
// error of the passes; it returns nil for nil.
func New(passes Passes, online *sgdstage.Online, config Config, join malt.Config, classified func(error) error) *Stage {
	return &Stage{Passes: passes, online: online, config: config, join: join, classified: classified}
}

// Next returns the name of the step, and reports whether it is to be done.
func (s *Stage) Next() (string, bool) {
	return fmt.Sprintf("%d asynchronous passes", s.online.Passes), !s.done
}

// Work makes all passes, and returns when all ranks have made theirs. The job is wired before the first pass, so that it
// notices a loss during the passes. A job that replaces lost ranks, or takes late ones, is wired after them: ranks at
// work could not connect to those. Until then the job of the shared vectors notices losses.
func (s *Stage) Work(ctx context.Context) (err error) {
	if !s.join.OnLoss.Replaces() {
		if err := s.online.Job.Ready(ctx); err != nil {
			return err
		}
	}
	if s.join.Total == 1 {
		return s.passes(ctx, nil, func() {}) // no other rank
	}
	g, err := malt.Join(ctx, s.join)
	if errors.Is(err, malt.ErrFinished) {
		return s.late(ctx)
	}
	if err != nil {
		return s.asLost(err)
	}
	s.online.Tally.Vectors = g.Report
	defer func() {
		s.online.Tally.Vectors = nil
		err = errors.Join(err, g.Close())
	}()
	v, err := s.share(g)
	if err != nil {
		return s.asLost(err)
	}
	report := s.exchanged(g, v)
	train := func() error {
		err := s.train(ctx, v, report)
		if err != nil {
			s.awaitLoss(ctx, g)
		}
		return s.classified(err)
	}
	if err := g.Protect(train); err != nil {
		return s.asLost(err)
	}
	if err := g.Done(ctx); err != nil {
		return s.asLost(err)
	}
	report()
	stats := v.Stats()
	s.join.Log.Info("asynchronous passes ended", slog.Uint64("rounds", v.Iteration()), slog.Uint64("sent", stats.Sent),
		slog.Uint64("received", stats.Received), slog.Uint64("overwritten", stats.Overwritten),
		slog.Uint64("dropped", stats.Dropped), slog.Uint64("damaged", stats.Damaged))
	return nil
}

// lossWithin is the time for the job of the shared vectors to see a loss that the job of the step has seen.
const lossWithin = 2 * time.Second

// awaitLoss waits for the failure of the job of the shared vectors if ctx has ended by that of the job of the step.
// Both mostly have the same cause, such as a lost rank, and one of them sees it first. Without the wait this rank would
// leave the other job as its first one to fail, and be named as the cause.
func (s *Stage) awaitLoss(ctx context.Context, g *malt.Group) {
	if ctx.Err() == nil || events.ClassOf(context.Cause(ctx)) != events.Other {
		return // the learner's own error, or an interruption of this process
	}
	settle, cancel := context.WithTimeout(context.WithoutCancel(ctx), lossWithin)
	defer cancel()
	if err := g.Barrier(settle); err != nil {
		s.join.Log.Debug("the job has failed during asynchronous passes", "rank", s.join.Rank, "err", err)
	}
}

// late makes the passes of a process that has joined after the end of all. It reads the shard once, which the server compares
// with that of the lost attempt, and learns nothing.
func (s *Stage) late(ctx context.Context) error {
	s.empty = true
	s.SkipExamples(math.MaxUint64)
	if err := s.OwnPass(ctx, nil); err != nil {
		return err
	}
	for range s.online.Passes - 1 {
		s.EmptyPass()
	}
	return nil
}

// newVector creates the shared vector for the table of the learner.
func (s *Stage) newVector(g *malt.Group) (*malt.Vector[float32], error) {
	table := newWeights(s.online.Learner(), s.online.Rule)
	config := s.config.vector()
	config.MaxSparse = max(1, table.n/2*table.slots) // of more weights all are sent
	return malt.NewVector[float32](g, "weights", table.n*table.slots, config)
}

// train makes all passes with exchanges over the vector. report is called after each.
func (s *Stage) train(ctx context.Context, v *malt.Vector[float32], report func()) error {
	shape, err := s.config.graph(s.join.Total)
	if err != nil {
		return err
	}
	m, err := newMixer(s.config, s.join.Rank, s.online.Learner(), s.online.Rule, v, !complete(shape))
	if err != nil {
		return err
	}
	m.round = v.Iteration() // of a replacement: those of the rank whose state it has
	s.outer = m.take(s.outer)
	if err := s.passes(ctx, m, report); err != nil {
		return err
	}
	return m.flush(ctx)
}

// passes makes all passes. report is called after each.
func (s *Stage) passes(ctx context.Context, mixer sgdstage.Mixer, report func()) error {
	for range s.online.Passes {
		if err := s.OwnPass(ctx, mixer); err != nil {
			return err
		}
		report()
	}
	return nil
}

// Exchange averages the weights of all ranks.
func (s *Stage) Exchange(ctx context.Context, g *allreduce.Group) error {
	if err := s.online.Job.Ready(ctx); err != nil {
		return err
	}
	if err := s.complete(ctx, g); err != nil {
		return err
	}
	return s.Passes.Exchange(ctx, g)
}

// Shared codes the part of the state that is the same on all ranks.
func (s *Stage) Shared(c *snapshot.Coder) {
	c.Flag("asynchronous passes made", &s.done)
	s.Passes.Shared(c)
}

// Commit ends the step.
func (s *Stage) Commit() error {
	s.done = true
	return s.CommitOwnPasses()
}
