// SPDX-License-Identifier: Apache-2.0

package retry

import (
	"testing"
	"time"
)

// epochEnd is the end of an epoch, and the count that must follow from it.
type epochEnd struct {
	completed    bool
	lost         int
	ends         []int
	elsewhere    bool
	inHand       int // contributions
	rank, counts int
}

// Epochs that a rank ends without progress are counted for that rank, until a step is completed.
func TestSpend(t *testing.T) {
	for name, story := range map[string][]epochEnd{
		"a rank dies again and again":       {{lost: 2, inHand: 3, rank: -1}, {lost: 2, inHand: 3, rank: 2, counts: 1}, {lost: 2, inHand: 3, rank: 2, counts: 2}, {lost: 2, inHand: 2, rank: 2, counts: 3}},
		"two die in turn":                   {{lost: 2, inHand: 3, rank: -1}, {lost: 1, inHand: 3, rank: 1, counts: 1}, {lost: 2, inHand: 3, rank: 2, counts: 1}, {lost: 1, inHand: 3, rank: 1, counts: 2}},
		"ranks get further":                 {{lost: 2, inHand: 1, rank: -1}, {lost: 2, inHand: 2, rank: -1}, {lost: 2, inHand: 3, rank: -1}, {lost: 2, inHand: 3, rank: 2, counts: 1}},
		"a step is completed":               {{lost: 2, rank: 2, counts: 1}, {completed: true, lost: 2, rank: -1}, {lost: 2, rank: 2, counts: 1}},
		"an edge ends it, ranks or not":     {{ends: []int{0, 3}, inHand: 1, rank: 0, counts: 1}, {ends: []int{1, 3}, inHand: 2, rank: 3, counts: 2}, {lost: 3, inHand: 2, rank: 3, counts: 3}},
		"another source is tried":           {{ends: []int{0, 3}, elsewhere: true, rank: -1}, {ends: []int{0, 3}, rank: 0, counts: 1}},
		"the server knows no rank to blame": {{lost: -1, rank: -1, counts: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var b Budget
			for i, c := range story {
				b.Ends, b.Elsewhere = c.ends, c.elsewhere
				if rank, n := b.Spend(c.completed, c.lost, c.inHand); rank != c.rank || n != c.counts {
					t.Errorf("epoch %d: rank %d has ended %d, want rank %d and %d", i+1, rank, n, c.rank, c.counts)
				}
			}
		})
	}
}

// The first loss causes no pause, later ones at most mostPause.
func TestPauses(t *testing.T) {
	var b Budget
	var all []time.Duration
	for range 10 {
		all = append(all, b.Pause())
		b.Spend(false, 1, 0)
	}
	if all[0] != 0 || all[1] != 0 || all[2] != leastPause || all[3] != 2*leastPause || all[9] != mostPause {
		t.Errorf("the pauses are %v", all)
	}
	if b.Spend(true, 1, 0); b.Pause() != 0 {
		t.Errorf("after a completed step the pause is %v", b.Pause())
	}
}
