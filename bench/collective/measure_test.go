// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce"
)

// pausingGroup is a group whose calls take per, and pause longer in one call.
type pausingGroup struct {
	per, pause time.Duration
	call, at   int // number of calls so far, and the one that pauses
}

func (g *pausingGroup) AllReduce(context.Context, allreduce.Vector, allreduce.Op) error {
	if g.call++; g.call == g.at {
		time.Sleep(g.pause)
	}
	time.Sleep(g.per)
	return nil
}
func (g *pausingGroup) Barrier(context.Context) error { return nil }
func (g *pausingGroup) Rank() int                     { return 0 }
func (g *pausingGroup) Size() int                     { return 2 }

// A pause of the machine during the warm-up changes neither the calls of a batch nor their time.
func TestWarmIgnoresAPause(t *testing.T) {
	const per = 5 * time.Microsecond
	for _, at := range []int{1, 4, 20, 100, 1000} {
		synctest.Test(t, func(t *testing.T) {
			m := meter{group: &pausingGroup{per: per, pause: 40 * time.Millisecond, at: at}, cpu: func() time.Duration { return 0 }}
			calls, us, err := m.warm(t.Context(), make([]float32, 1))
			if err != nil {
				t.Fatal(err)
			}
			if want := int(batchTime / per); calls != want || us != 5 {
				t.Errorf("pause in call %d: got batches of %d calls of %g µs, want %d calls of 5 µs", at, calls, us, want)
			}
		})
	}
}
