// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/client"
)

// Checkpoints stores states of a job for the case that all ranks with the state are lost.
// Package checkpoint stores them in files.
type Checkpoints interface {
	// Own sets the job to which the states belong. It is called before all other methods.
	Own(o Owner)
	// Newest returns the number of steps in the newest state from which this job may
	// continue; 0 is none.
	Newest() (step uint64, err error)
	// Load calls read with the newest state of so many steps. An error without a call of
	// read means that the state has been removed.
	Load(step uint64, read func(io.Reader) error) error
	// Save stores a state. It removes older states only while lease returns nil, so that an
	// attempt that has been replaced removes nothing. ctx ends when the job has finished: a state that
	// is not stored by then is not needed any more.
	Save(ctx context.Context, at client.Point, write func(io.Writer) error, lease func() error) error
	// Clear removes all states of a job that has finished.
	Clear() error
}

// Owner identifies the job to which states belong.
type Owner struct {
	// Options is the SHA-256 of all options on which the ranks agree, and of their number. A
	// state with another digest cannot be used.
	Options [32]byte
	// Text is the text of which Options is the digest, for messages.
	Text string
	// Run and Generation are Config.Job.RunKey and Config.Generation.
	Run        string
	Generation uint32
}

// keepsCheckpoints reports whether this rank keeps checkpoints.
func (s *Steps) keepsCheckpoints() bool { return s.cfg.Checkpoints != nil && s.cfg.Rank == 0 }

// leaseWithin limits the wait for the server's confirmation that this attempt may remove older
// checkpoints.
const leaseWithin = 2 * time.Second

// Newest returns the step of the newest checkpoint of this job that this rank can read; 0: none.
func (s *Steps) Newest(o Owner) (uint64, error) {
	if !s.keepsCheckpoints() {
		return 0, nil
	}
	s.cfg.Checkpoints.Own(o)
	step, err := s.cfg.Checkpoints.Newest()
	if err != nil {
		return 0, fmt.Errorf("allreduce: rank 0: %w", err)
	}
	return step, nil
}

// Save begins to keep the state after a step, if one is due. Work may go on
// meanwhile: it only reads the state. The next Commit waits for the copy in memory, and
// not for the file system. A copy that waits for the one before it to be written is
// replaced by a newer one, so a slow file system costs two copies at most. A job that has gone
// on without ranks keeps no checkpoint, since a job that begins from one has all ranks.
func (s *Steps) Save() {
	at := s.at()
	every := uint64(max(1, s.cfg.CheckpointEvery))
	due := s.due
	s.due = false
	_, live := s.job.Current()
	if !due || !s.keepsCheckpoints() || len(live) < s.cfg.Total || at.Step%every != 0 {
		return
	}
	s.state.RLock()
	s.work.Go(func() {
		k := &checkpointCopy{at: at}
		err := k.take(s.machine.WriteState)
		if err == nil {
			s.unwritten.Store(k) // before the next Commit, and so before any newer copy
		}
		s.state.RUnlock()
		if err != nil {
			s.cfg.Log.Error("cannot copy the state for a checkpoint, working on without it", "rank", s.cfg.Rank, "step", at.Step, "error", err)
			return
		}
		s.write()
	})
}

// checkpointCopy is the state after a step, to be written.
type checkpointCopy struct {
	snapshot
	at client.Point
}

// write writes the newest copy, unless another call does, which then also writes this one.
func (s *Steps) write() {
	for s.unwritten.Load() != nil && s.unfinished.Err() == nil {
		select {
		case s.saving <- struct{}{}:
		default:
			return
		}
		if k := s.unwritten.Swap(nil); k != nil {
			s.keep(k)
		}
		<-s.saving
	}
}

// keep writes a copy.
func (s *Steps) keep(k *checkpointCopy) {
	began := time.Now()
	mark := s.cfg.Events.Begin(events.Event{Kind: events.Checkpoint, Number: k.at.Step, Peer: -1}, began)
	defer s.cfg.Events.End(mark)
	err := s.cfg.Checkpoints.Save(s.unfinished, k.at, k.writeTo, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), leaseWithin)
		defer cancel()
		return s.job.Server().Lease(ctx)
	})
	if err != nil && s.unfinished.Err() != nil {
		s.cfg.Log.Debug("checkpoint omitted, because the job has finished", "rank", s.cfg.Rank, "step", k.at.Step, "error", err)
		return
	}
	if err != nil {
		s.cfg.Log.Error("cannot keep a checkpoint, working on without it", "rank", s.cfg.Rank, "step", k.at.Step, "error", err)
		return
	}
	s.cfg.Log.Debug("checkpoint kept", "rank", s.cfg.Rank, "step", k.at.Step, "seconds", time.Since(began).Seconds())
}

// errFinished ends the write of a checkpoint.
var errFinished = errors.New("the job has finished")

// load takes the state from a checkpoint.
func (s *Steps) load(w *client.Wiring) error {
	if s.cfg.Checkpoints == nil {
		return fmt.Errorf("rank %d: the server names a checkpoint of step %d on this rank, but allreduce.Config.Checkpoints is nil: set it on rank 0", s.cfg.Rank, w.Resume.Step)
	}
	s.state.Lock()
	defer s.state.Unlock()
	begun := false
	err := s.cfg.Checkpoints.Load(w.Resume.Step, func(r io.Reader) error {
		begun = true
		s.invalidate()
		return s.machine.ReadState(r)
	})
	switch {
	case err != nil && !begun:
		return &SourceLostError{fmt.Errorf("rank %d: %w", s.cfg.Rank, err)}
	case err != nil:
		return &unusableError{fmt.Errorf("rank %d: %w", s.cfg.Rank, err)}
	}
	if !s.complete(w.Resume, w.Epoch) {
		return mesh.ErrOver
	}
	s.cfg.Log.Info("going on from a checkpoint", "rank", s.cfg.Rank, "step", w.Resume.Step)
	return nil
}

// Clear removes the checkpoints of a job that has finished. It ends the write of one, and waits for the call of the
// file system that is under way. If ctx ends first, the checkpoints stay.
func (s *Steps) Clear(ctx context.Context) {
	if !s.keepsCheckpoints() {
		return
	}
	s.finish(errFinished)
	if err := s.clear(ctx); err != nil {
		s.cfg.Log.Warn("checkpoints of a finished job not removed", "rank", s.cfg.Rank, "error", err)
	}
}

// clear removes the checkpoints once no write is under way. Wait also waits for a removal that is under way when
// ctx ends.
func (s *Steps) clear(ctx context.Context) error {
	ticker := time.NewTicker(engine.LogInterval)
	defer ticker.Stop()
	for began, written := time.Now(), false; !written; {
		select {
		case s.saving <- struct{}{}:
			written = true
		case <-ctx.Done():
			return fmt.Errorf("waiting for the last checkpoint to be written: %w", context.Cause(ctx))
		case <-ticker.C:
			s.cfg.Log.Warn("waiting for the last checkpoint to be written", "rank", s.cfg.Rank, "since", time.Since(began).Round(time.Second))
		}
	}
	// s.saving stays full, so that a copy that was made meanwhile is never written.
	removed := make(chan error, 1)
	s.work.Go(func() { removed <- s.cfg.Checkpoints.Clear() })
	select {
	case err := <-removed:
		return err
	case <-ctx.Done():
		return fmt.Errorf("waiting for the removal: %w", context.Cause(ctx))
	}
}
