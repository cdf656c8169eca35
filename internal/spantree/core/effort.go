// SPDX-License-Identifier: Apache-2.0

package core

import "time"

// The progress of a recovering job over its epochs. Losses that come faster than steps complete do
// not end the job as long as new attempts join and ranks make progress. One rank, or one edge, that
// ends epoch after epoch does end it.

const (
	// maxFruitless is the number of epochs without progress, between two completed steps, by which
	// one rank ends the job. It ends a crash loop.
	maxFruitless = 5
	// From the third epoch since a completed step on, the next one is delayed after the end of the
	// last one, from leastPause, doubling up to mostPause. This limits the number of epochs that
	// are started in vain.
	leastPause = 100 * time.Millisecond
	mostPause  = 5 * time.Second
)

// effort counts the epochs since the newest completed step.
type effort struct {
	epochs    int         // that have ended
	inHand    int         // most contributions to the next step that were in hand after an epoch
	fruitless map[int]int // epochs without progress, by the rank that has ended them
	ends      []int       // ends of the edge that was charged for the newest epoch; nil: a rank has ended it
	elsewhere bool        // in the next epoch, a rank fetches its missing data from another source
}

// pause returns the delay of the next epoch after the end of the last one.
func (e *effort) pause() time.Duration {
	if e.epochs < 2 {
		return 0
	}
	return min(leastPause<<min(e.epochs-2, 10), mostPause) // the shift is bounded, so it cannot overflow
}

// spent counts an epoch that was ended by the loss of rank lost, or by an edge. completed reports
// that a step was completed in it; inHand is the number of contributions to the next step that
// remain. It returns the rank that has ended most epochs without progress, and their number; -1 if
// this epoch does not count.
func (e *effort) spent(completed bool, lost, inHand int) (culprit, count int) {
	ends, elsewhere := e.ends, e.elsewhere
	e.ends, e.elsewhere = nil, false
	if completed {
		*e = effort{inHand: inHand}
		return -1, 0
	}
	if elsewhere {
		return -1, 0 // the next epoch uses another source, so this one was not in vain
	}
	e.epochs++
	further := inHand > e.inHand
	e.inHand = max(e.inHand, inHand)
	switch {
	case further && ends == nil:
		return -1, 0 // more ranks have done their work than before: the job makes progress
	case ends == nil:
		ends = []int{lost}
	}
	culprit = ends[0]
	for _, rank := range ends {
		if e.fruitless == nil {
			e.fruitless = map[int]int{}
		}
		if e.fruitless[rank]++; e.fruitless[rank] > e.fruitless[culprit] {
			culprit = rank
		}
	}
	return culprit, e.fruitless[culprit]
}

// contributions returns the number of members that have answered, are at this point, and have their
// contribution to the next step in hand.
func (j *job) contributions(at point) (n int) {
	for _, a := range j.holders {
		if a.answered && a.position == at && a.hasWork {
			n++
		}
	}
	return n
}
