// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"io"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/client"
)

// hungCheckpoints are on a file system that hangs for an hour, and then takes what it was given.
type hungCheckpoints struct{ memoryCheckpoints }

func (c *hungCheckpoints) Save(at client.Point, write func(io.Writer) error, lease func() error) error {
	time.Sleep(time.Hour)
	return c.memoryCheckpoints.Save(at, write, lease)
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
