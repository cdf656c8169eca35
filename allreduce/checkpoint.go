// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/spantree/client"
)

// Checkpoints keeps states of a job for the case that no rank is left that has one.
// Package checkpoint keeps them in files.
type Checkpoints interface {
	// Own says whose states they are, before anything else.
	Own(o Owner)
	// Newest returns how many steps are in the newest state that this job may go on
	// from; 0: there is none.
	Newest() (step uint64, err error)
	// Load reads the newest state of so many steps. An error before it calls read says
	// that there is none any more.
	Load(step uint64, read func(io.Reader) error) error
	// Save keeps a state. lease is nil while this rank may remove older ones.
	Save(at client.Point, write func(io.Writer) error, lease func() error) error
	// Clear removes all of them: the job has finished.
	Clear() error
}

// Owner is whom states belong to.
type Owner struct {
	// Options is the SHA-256 of all on which the ranks agree, and of their number: a
	// state of others is of no use.
	Options [32]byte
	// Text is that of which Options is the digest.
	Text string
	// Run and Generation are Config.Job.RunKey and Config.Generation.
	Run        string
	Generation uint32
}

// owner is whom this job's states belong to.
func (c Config) owner() Owner {
	text := fmt.Sprintf("%s total=%d", c.agreed(), c.Total)
	return Owner{Options: sha256.Sum256([]byte(text)), Text: text, Run: c.Job.RunKey, Generation: c.Generation}
}

// keepsCheckpoints says whether this rank does.
func (c Config) keepsCheckpoints() bool { return c.Checkpoints != nil && c.Rank == 0 }

// leaseWithin is how long a checkpoint waits for the right to remove older ones.
const leaseWithin = 2 * time.Second

// newestCheckpoint is the step from which rank 0 could go on; 0: none.
func (c Config) newestCheckpoint() (uint64, error) {
	if !c.keepsCheckpoints() {
		return 0, nil
	}
	c.Checkpoints.Own(c.owner())
	step, err := c.Checkpoints.Newest()
	if err != nil {
		return 0, fmt.Errorf("allreduce: rank 0: %w", err)
	}
	return step, nil
}

// save begins to keep the state after a step, if one is due. Work may go on
// meanwhile: it only reads the state. The next Commit waits for the copy in memory, and
// not for the file system. A copy that waits for the one before it to be written is
// replaced by a newer one, so a slow file system costs two copies at most. Of a job that
// has gone on without ranks none is kept: a job that begins from a checkpoint has all of
// them.
func (s *steps) save() {
	g := s.group
	at := s.at()
	every := uint64(max(1, g.cfg.CheckpointEvery))
	due := s.due
	s.due = false
	if !due || !g.cfg.keepsCheckpoints() || g.Size() < g.cfg.Total || at.Step%every != 0 {
		return
	}
	s.state.RLock()
	g.work.Go(func() {
		k := &copied{at: at}
		err := k.take(s.machine.WriteState)
		if err == nil {
			s.unwritten.Store(k) // before the next Commit, and so before any newer copy
		}
		s.state.RUnlock()
		if err != nil {
			g.log.Error("cannot copy the state for a checkpoint, working on without it", "rank", g.cfg.Rank, "step", at.Step, "error", err)
			return
		}
		s.write()
	})
}

// copied is the state after a step, to be written.
type copied struct {
	snapshot
	at client.Point
}

// write writes the newest copy, unless another call does, which then also writes this one.
func (s *steps) write() {
	for s.unwritten.Load() != nil {
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
func (s *steps) keep(k *copied) {
	g := s.group
	began := time.Now()
	err := g.cfg.Checkpoints.Save(k.at, k.writeTo, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), leaseWithin)
		defer cancel()
		return g.member.Lease(ctx)
	})
	if err != nil {
		g.log.Error("cannot keep a checkpoint, working on without it", "rank", g.cfg.Rank, "step", k.at.Step, "error", err)
		return
	}
	g.log.Debug("checkpoint kept", "rank", g.cfg.Rank, "step", k.at.Step, "seconds", time.Since(began).Seconds())
}

// goneError says that the checkpoint that the job was to go on from is there no more:
// the attempt before this one has removed it while this one stood by. It is the loss of
// this attempt, not the end of the job: the next one finds those that are there.
type goneError struct{ err error }

func (e *goneError) Error() string { return e.err.Error() }
func (e *goneError) Unwrap() error { return e.err }

// load takes the state from a checkpoint.
func (s *steps) load(w *client.Wiring) error {
	g := s.group
	if g.cfg.Checkpoints == nil {
		return fmt.Errorf("rank %d: the server says that this rank has a checkpoint of step %d, and it has none", g.cfg.Rank, w.Resume.Step)
	}
	s.state.Lock()
	defer s.state.Unlock()
	begun := false
	err := g.cfg.Checkpoints.Load(w.Resume.Step, func(r io.Reader) error {
		begun = true
		s.spoil()
		return s.machine.ReadState(r)
	})
	switch {
	case err != nil && !begun:
		return &goneError{fmt.Errorf("rank %d: %w", g.cfg.Rank, err)}
	case err != nil:
		return &notTaken{fmt.Errorf("rank %d: %w", g.cfg.Rank, err)}
	}
	if !s.complete(w.Resume, w.Epoch) {
		return mesh.ErrOver
	}
	g.log.Info("going on from a checkpoint", "rank", g.cfg.Rank, "step", w.Resume.Step)
	return nil
}

// clear removes the checkpoints of a job that has finished.
func (s *steps) clear() {
	g := s.group
	if !g.cfg.keepsCheckpoints() {
		return
	}
	ticker := time.NewTicker(engine.SayEvery)
	defer ticker.Stop()
	for began, written := time.Now(), false; !written; { // the last one may be under way: Close waits for it, too
		select {
		case s.saving <- struct{}{}:
			written = true
		case <-ticker.C:
			g.log.Warn("waiting for the last checkpoint to be written", "rank", g.cfg.Rank, "since", time.Since(began).Round(time.Second))
		}
	}
	// s.saving stays full: a copy that was made meanwhile is not to be written.
	if err := g.cfg.Checkpoints.Clear(); err != nil {
		g.log.Warn("cannot remove the checkpoints of a job that has finished", "rank", g.cfg.Rank, "error", err)
	}
}
