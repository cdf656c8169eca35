// SPDX-License-Identifier: Apache-2.0

package core

import "time"

// The progress of a recovering job over its epochs. Losses that come faster than a step takes
// do not end the job while new attempts join and ranks get further. One rank, or one link,
// that ends epoch after epoch does.

const (
	// maxFruitless is how many epochs without gain a rank may end between two completed steps.
	maxFruitless = 5
	// The next epoch waits for a while after the second one without a completed step, and twice
	// as long after each further one: then fewer epochs are begun in vain.
	leastPause = 100 * time.Millisecond
	mostPause  = 5 * time.Second
)

// effort counts epochs since the newest completed step.
type effort struct {
	epochs    int         // that have ended
	inHand    int         // the most contributions to the next step that were in hand
	fruitless map[int]int // those in which no rank got further, by the rank that ended them
	ends      []int       // the ends of the edge that was charged for the epoch
	elsewhere bool        // a rank takes what it lacks from another source in the next epoch
}

// pause returns how long the next epoch waits after the end of the last one.
func (e *effort) pause() time.Duration {
	if e.epochs < 2 {
		return 0
	}
	return min(leastPause<<min(e.epochs-2, 10), mostPause)
}

// spent counts an epoch that has ended by the loss of a rank, or by an edge. inHand is how many
// contributions to the next step are left. It returns a rank that has ended too many epochs
// without gain, and how many.
func (e *effort) spent(completed bool, lost, inHand int) (culprit, count int) {
	ends, elsewhere := e.ends, e.elsewhere
	e.ends, e.elsewhere = nil, false
	if completed {
		*e = effort{inHand: inHand}
		return -1, 0
	}
	if elsewhere {
		return -1, 0
	}
	e.epochs++
	further := inHand > e.inHand
	e.inHand = max(e.inHand, inHand)
	switch {
	case further && ends == nil:
		return -1, 0
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

// contributions counts the members that have answered, are at a point, and have their
// contribution to the next step in hand.
func (j *job) contributions(at point) (n int) {
	for _, a := range j.holders {
		if a.answered && a.position == at && a.hasWork {
			n++
		}
	}
	return n
}
