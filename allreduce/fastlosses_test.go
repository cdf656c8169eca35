// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// TestLossesFasterThanAStep: ranks are killed faster than a step takes. As long as attempts come the
// job goes on, and it ends with the model of the undisturbed run soon after the last loss.
func TestLossesFasterThanAStep(t *testing.T) {
	const total, steps = 32, 3
	want := expected(t, total, steps)
	for _, storm := range []struct {
		every time.Duration
		kills int
	}{{150 * time.Millisecond, 1}, {500 * time.Millisecond, 3}} {
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
