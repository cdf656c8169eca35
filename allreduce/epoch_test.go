// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/epoch"
)

// TestEpochEndsWhileItIsWired: EPOCH_END arrives after the edges of the tree have opened, and before, or
// while, the engine takes them over. Collectives are then interrupted, and Run repeats the step.
func TestEpochEndsWhileItIsWired(t *testing.T) {
	for _, onLoss := range []OnLoss{Abort, Wait} {
		for _, driver := range []epoch.Driver{epoch.Auto, epoch.Conn} {
			for _, first := range []bool{false, true} {
				t.Run(fmt.Sprintf("on_loss %v, driver %v, after EPOCH_END %v", onLoss, driver, first), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { epochEndsWhileWired(t, onLoss, driver, first) })
				})
			}
		}
	}
}

func epochEndsWhileWired(t *testing.T, onLoss OnLoss, driver epoch.Driver, first bool) {
	j, n := newMemJob(t, 3, Config{OnLoss: onLoss, driver: driver})
	j.each(func(rank int) error {
		g := j.groups[rank]
		w, err := g.member.Ready(ctx, Shard{Examples: 1})
		if err != nil {
			return err
		}
		g.steps.SetRecovers(onLoss != Abort)
		g.enterEpoch(w)
		return g.epoch.Conns.Connect(ctx)
	})
	n.Kill("h2")
	for _, rank := range []int{0, 1} {
		e := j.groups[rank].epoch
		if first {
			<-e.Engine.Failed
			time.Sleep(time.Second)
		}
		err := e.HandOver(ctx)
		if err == nil { // it was faster
			<-e.Engine.Failed
			err = j.groups[rank].epoch.Err(ctx)
		}
		_, interrupted := errors.AsType[*InterruptedError](err)
		lost, ended := errors.AsType[*LostError](err)
		if interrupted != (onLoss == Wait) || !ended || lost.Rank != 2 {
			t.Errorf("rank %d: %v (%T), want that rank 2 was lost", rank, err, err)
		}
	}
}
