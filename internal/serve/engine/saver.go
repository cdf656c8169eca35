// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"sync"
	"time"
)

// saver writes the checkpoints of a model that learns.
type saver struct {
	e *Engine

	mu      sync.Mutex
	freed   *sync.Cond // learned has decreased, or the saver has ended
	learned int        // examples that no complete checkpoint has
	under   int        // examples that are being learned
	ended   bool
	err     error // of the last checkpoint; nil: it is complete

	due  chan struct{} // Every/2 examples have been learned
	quit chan struct{}
	done sync.WaitGroup
}

// start begins to write checkpoints, if there are any.
func (s *saver) start(e *Engine) {
	s.e = e
	s.freed = sync.NewCond(&s.mu)
	s.due, s.quit = make(chan struct{}, 1), make(chan struct{})
	m := e.model.Load()
	if !m.Learns() || e.cfg.Checkpoint == "" {
		return
	}
	s.done.Go(func() { s.run(m) })
}

// run writes checkpoints until the saver ends.
func (s *saver) run(m *Model) {
	tick := time.NewTicker(max(s.e.cfg.Interval/2, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-s.due:
		case <-tick.C:
		}
		_ = s.checkpoint(context.Background(), m) // logged; stop returns that of the last one
	}
}

// begin precedes the learning of an example. It waits while a crash would lose Every examples. After a failed
// checkpoint it does not wait: the engine keeps answering, and the log has the failure.
func (s *saver) begin() {
	if s.e.cfg.Checkpoint == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.learned+s.under >= s.e.cfg.Every && !s.ended && s.err == nil {
		s.freed.Wait()
	}
	s.under++
}

// end follows begin, when the example has been learned.
func (s *saver) end() {
	if s.e.cfg.Checkpoint == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.under--
	if s.learned++; s.learned >= (s.e.cfg.Every+1)/2 {
		select {
		case s.due <- struct{}{}:
		default: // a checkpoint is already due
		}
	}
}

// checkpoint writes one, if anything has been learned since the last.
func (s *saver) checkpoint(ctx context.Context, m *Model) error {
	s.mu.Lock()
	n := s.learned
	s.mu.Unlock()
	if n == 0 {
		return nil
	}
	// Examples that are learned from here on may be in the file, and count as missing.
	err := s.e.save(ctx, m, s.e.cfg.Checkpoint)
	s.mu.Lock()
	s.err = err
	if err == nil {
		s.learned -= n
	}
	s.freed.Broadcast()
	s.mu.Unlock()
	if err != nil {
		s.e.cfg.Log.Error("checkpoint not saved; learning continues", "file", s.e.cfg.Checkpoint, "error", err)
		return err
	}
	s.e.Metrics.Checkpoints.Add(1)
	return nil
}

// stop ends the saver. With save it saves what has been learned.
func (s *saver) stop(ctx context.Context, save bool) error {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return nil
	}
	s.ended = true
	s.freed.Broadcast()
	s.mu.Unlock()
	close(s.quit)
	s.done.Wait()
	m := s.e.Acquire()
	var errs []error
	save = save && m.Learns()
	if save && s.e.cfg.Checkpoint != "" {
		errs = append(errs, s.checkpoint(ctx, m))
	}
	if save && s.e.cfg.Final != "" {
		errs = append(errs, s.e.save(ctx, m, s.e.cfg.Final))
	}
	return errors.Join(append(errs, m.Release())...)
}
