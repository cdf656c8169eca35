// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/internal/sampled"
)

const toySteps = 5

// TestLostRankIsReplaced kills each rank at each place of a step. The others must continue with
// its next attempt, repeat no Work, and end with the model of the undisturbed run.
func TestLostRankIsReplaced(t *testing.T) {
	const total = 4
	want := expected(t, total, toySteps)
	for victim := range total {
		for _, step := range []int{1, 3, toySteps} {
			for _, where := range sampled.Race(t, []string{"work", "exchange", "between", "commit"}, (victim+step)%2, 2) {
				t.Run(fmt.Sprintf("rank %d in %s of step %d", victim, where, step), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s := newStage(t, total, toySteps, Config{})
						var all []*actor
						for rank := range total {
							a := s.start(rank, func(a *actor) {
								if rank != victim {
									return
								}
								a.toy.at = func(at int, what string) {
									if at == step && what == where {
										a.kill()
									}
								}
							})
							all = append(all, a)
						}
						<-all[victim].done
						time.Sleep(3 * time.Second)
						all[victim] = s.start(victim, nil)
						s.end(want, all...)
						for rank, a := range all {
							if rank != victim && len(a.toy.worked) != toySteps {
								t.Errorf("rank %d has worked on steps %v, want each once", rank, a.toy.worked)
							}
						}
					})
				})
			}
		}
	}
}
