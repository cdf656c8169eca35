// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/client"
)

// hungCheckpoints are on a file system that hangs for an hour, and then takes what it was given.
type hungCheckpoints struct{ memoryCheckpoints }

func (c *hungCheckpoints) Save(ctx context.Context, at client.Point, write func(io.Writer) error, lease func() error) error {
	time.Sleep(time.Hour)
	return c.memoryCheckpoints.Save(ctx, at, write, lease)
}

// failingCheckpoints are on a file system that is tried again until ctx ends.
type failingCheckpoints struct{ memoryCheckpoints }

func (c *failingCheckpoints) Save(ctx context.Context, _ client.Point, _ func(io.Writer) error, _ func() error) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Hour):
		return nil
	}
}

// TestHungCheckpointHoldsUpNoStep: a checkpoint that is not written holds up no step of any rank.
// Only rank 0 waits for it, at its end.
func TestHungCheckpointHoldsUpNoStep(t *testing.T) {
	kept := &hungCheckpoints{}
	act(t, Config{Checkpoints: kept, CheckpointEvery: 1}, func(t *testing.T, s *stage, want [32]byte) {
		began := time.Now()
		all := s.startAll()
		for _, a := range all[1:] {
			<-a.done
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("ranks other than 0 took %v", took)
		}
		s.end(want, all...)
		if len(kept.saved) != 1 || kept.saved[0] != 1 {
			t.Errorf("the checkpoints of steps %v were written, want that of step 1", kept.saved)
		}
	})
}

// TestUnwrittenCheckpointIsOmittedAtTheEnd: no rank waits for retries of a checkpoint that is not needed any more.
func TestUnwrittenCheckpointIsOmittedAtTheEnd(t *testing.T) {
	act(t, Config{Checkpoints: &failingCheckpoints{}, CheckpointEvery: 1}, func(t *testing.T, s *stage, want [32]byte) {
		began := time.Now()
		all := s.startAll()
		s.end(want, all...)
		if took := time.Since(began); took > time.Minute {
			t.Errorf("the ranks took %v", took)
		}
	})
}
