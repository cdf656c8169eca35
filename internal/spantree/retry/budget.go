// SPDX-License-Identifier: Apache-2.0

package retry

import "time"

const (
	// MaxFruitless is the number of epochs without progress, between two completed steps, by which
	// one rank ends the job. It ends a crash loop.
	MaxFruitless = 5
	// From the third epoch since a completed step on, the next one is delayed after the end of the
	// last one, from leastPause, doubling up to mostPause. This limits the number of epochs that
	// are started in vain.
	leastPause = 100 * time.Millisecond
	mostPause  = 5 * time.Second
)

// Budget counts the epochs since the newest completed step.
type Budget struct {
	epochs    int         // that have ended
	inHand    int         // most contributions to the next step that were in hand after an epoch
	fruitless map[int]int // epochs without progress, by the rank that has ended them
	Ends      []int       // ends of the edge that was charged for the newest epoch; nil: a rank has ended it
	Elsewhere bool        // in the next epoch, a rank fetches its missing data from another source
}

// Pause returns the delay of the next epoch after the end of the last one.
func (b *Budget) Pause() time.Duration {
	if b.epochs < 2 {
		return 0
	}
	return min(leastPause<<min(b.epochs-2, 10), mostPause) // the shift is bounded, so it cannot overflow
}

// Spend counts an epoch that was ended by the loss of rank lost, or by an edge. completed reports
// that a step was completed in it; inHand is the number of contributions to the next step that
// remain. It returns the rank that has ended most epochs without progress, and their number; -1 if
// this epoch does not count.
func (b *Budget) Spend(completed bool, lost, inHand int) (rank, count int) {
	ends, elsewhere := b.Ends, b.Elsewhere
	b.Ends, b.Elsewhere = nil, false
	if completed {
		*b = Budget{inHand: inHand}
		return -1, 0
	}
	if elsewhere {
		return -1, 0 // the next epoch uses another source, so this one was not in vain
	}
	b.epochs++
	further := inHand > b.inHand
	b.inHand = max(b.inHand, inHand)
	switch {
	case further && ends == nil:
		return -1, 0 // more ranks have done their work than before: the job makes progress
	case ends == nil:
		ends = []int{lost}
	}
	rank = ends[0]
	for _, end := range ends {
		if b.fruitless == nil {
			b.fruitless = map[int]int{}
		}
		if b.fruitless[end]++; b.fruitless[end] > b.fruitless[rank] {
			rank = end
		}
	}
	return rank, b.fruitless[rank]
}
