// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package maltstorm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gvw-project/gvw/malt"
)

// TestKilledRank kills one of 10 ranks in the middle of training. The others reach the same loss within 1 %. The
// longest pause of a survivor is printed: no limit of time decides the test.
func TestKilledRank(t *testing.T) {
	const ranks, victim = 10, 7
	server := serve(t)
	shares := data(ranks)
	syncs := []string{"asp", "bsp", "ssp:3", "notify_ack"}
	some := 2
	if testing.Short() {
		some = 1
		t.Log("sampled: one kind of synchronization")
	}
	for n, sync := range syncs[:min(len(syncs), number("STORM", some))] {
		job := func(key string) *job {
			return &job{begun: make(chan struct{}), task: task{
				Server: server, Job: uint64(n + 1), RunKey: fmt.Sprintf("%s-%d", key, n), Total: ranks, Rounds: 300,
				OnLoss: malt.Shrink, Graph: "halton", Sync: sync, Pace: 5 * time.Millisecond,
				LostAfter: 20 * time.Second, // only the killed rank is to be lost
			}}
		}
		want := slices.Max(job("calm").train(t))
		ctx, cancel := context.WithTimeoutCause(context.Background(), hangs, errors.New("the job hangs"))
		defer cancel()
		j := job("killed")
		j.Victim, j.KilledIn = victim, j.Rounds/2
		outcomes := j.run(ctx)
		if outcomes[victim].err == nil {
			t.Errorf("%s: rank %d was not killed", sync, victim)
		}
		var pause, usual time.Duration
		worst := 0.0
		for rank, o := range outcomes {
			switch {
			case rank == victim:
			case o.err != nil:
				t.Errorf("%s: rank %d: %v\n%s", sync, rank, o.err, o.text)
			default:
				pause, usual = max(pause, o.Pause), max(usual, o.Usual)
				worst = max(worst, math.Abs(loss(o.Model, shares)-want)/want)
				if o.Epochs != 2 {
					t.Errorf("%s: rank %d was in %d memberships, want 2", sync, rank, o.Epochs)
				}
			}
		}
		if worst > 0.01 {
			t.Errorf("%s: a survivor's loss differs by %.2f %% from %.4f without the kill", sync, 100*worst, want)
		}
		t.Logf("%s: the longest pause of a survivor is %v, its usual round %v, the largest difference of the loss %.2f %%",
			sync, pause.Round(time.Millisecond), usual.Round(time.Millisecond), 100*worst)
	}
}
