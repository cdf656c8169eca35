// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/recovery"
	"github.com/gvw-project/gvw/internal/sampled"
)

// TestLossesFasterThanAStep: ranks are killed faster than a step takes. As long as attempts come the
// job goes on, and it ends with the model of the undisturbed run soon after the last loss.
func TestLossesFasterThanAStep(t *testing.T) {
	const total, steps = 32, 3
	want := expected(t, total, steps)
	for _, storm := range sampled.Race(t, []struct {
		every time.Duration
		kills int
	}{{150 * time.Millisecond, 1}, {500 * time.Millisecond, 3}}, 1, 2) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, total, steps, Config{})
			quick := func(a *actor) { a.toy.pause = 100 * time.Millisecond }
			all := make([]*actor, total)
			for rank := range all {
				all[rank] = s.start(rank, quick)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			time.Sleep(150 * time.Millisecond)
			for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(storm.every) {
				for range storm.kills {
					rank := rng.IntN(total)
					all[rank].kill()
					<-all[rank].done
					all[rank] = s.start(rank, quick)
				}
			}
			last := time.Now()
			s.wait.Wait()
			for _, a := range all {
				if finished(a.err) { // the job has ended between two losses
					a.err, a.model = nil, want
				}
			}
			s.end(want, all...)
			if took := time.Since(last); took > 15*time.Second {
				t.Errorf("the job has ended %v after the last loss", took)
			}
		})
	}
}

// lateReader is a toy that does something before and after it reads a state.
type lateReader struct {
	*toy
	before, after func()
}

func (m *lateReader) ReadState(r io.Reader) error {
	m.before()
	err := m.toy.ReadState(r)
	m.after()
	return err
}

// TestStateArrivesAfterTheEpoch: a rank is lost while another one takes the state. The transfer goes
// on, and what has come serves in the next epoch.
func TestStateArrivesAfterTheEpoch(t *testing.T) {
	act(t, Config{}, func(t *testing.T, s *stage, want [32]byte) {
		all := s.startAll()
		time.Sleep(2500 * time.Millisecond)
		all[3].kill()
		taken := 0
		all[3] = s.start(3, func(a *actor) {
			a.change = func(m *toy) Machine {
				return &lateReader{m, func() {
					if taken++; taken == 1 {
						all[1].kill()
						time.Sleep(100 * time.Millisecond) // EPOCH_END comes
					}
				}, func() {}}
			}
		})
		<-all[1].done
		all[1] = s.start(1, nil)
		s.end(want, all...)
		if taken != 1 {
			t.Errorf("rank 3 has taken the state %d times, want once", taken)
		}
	})
}

// TestStateThatIsLostWithItsSource: the only rank that has the state is lost while another one reads
// it. The job starts over, and that rank does not go on with what it has read.
func TestStateThatIsLostWithItsSource(t *testing.T) {
	for _, whole := range []bool{false, true} {
		act(t, Config{}, func(t *testing.T, s *stage, want [32]byte) {
			all := s.startAll()
			time.Sleep(2500 * time.Millisecond)
			for _, rank := range []int{1, 2, 3} {
				all[rank].kill()
			}
			lose := func(now bool) func() {
				return func() {
					if now {
						all[0].kill()
						time.Sleep(100 * time.Millisecond)
					}
				}
			}
			reader := s.start(1, func(a *actor) {
				a.change = func(m *toy) Machine { return &lateReader{m, lose(!whole), lose(whole)} }
			})
			all[1] = reader
			for _, rank := range []int{2, 3} {
				all[rank] = s.start(rank, func(a *actor) {
					a.change = func(m *toy) Machine { return &lateReader{m, func() { time.Sleep(2 * time.Second) }, func() {}} }
				})
			}
			<-all[0].done
			all[0] = s.start(0, nil)
			// Any of the three may be the first that ends, and the next one ends only when that one
			// has been replaced.
			var launcher sync.WaitGroup
			for _, rank := range []int{1, 2, 3} {
				launcher.Go(func() {
					<-all[rank].done
					if _, gone := errors.AsType[*recovery.SourceLostError](all[rank].err); gone {
						all[rank] = s.start(rank, nil)
					}
				})
			}
			launcher.Wait()
			if _, gone := errors.AsType[*recovery.SourceLostError](reader.err); !gone {
				t.Errorf("rank 1 ended with %v, want that the state is lost", reader.err)
			}
			s.end(want, all...)
		})
	}
}
