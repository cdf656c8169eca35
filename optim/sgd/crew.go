// SPDX-License-Identifier: Apache-2.0

package sgd

import "sync"

// Crew has learners that learn from different examples at the same time and update one table of weights without locks
// (Niu, Recht, Ré and Wright: Hogwild!, NIPS 2011). Where two of them change a weight at once, one change may be lost, so
// that the results depend on the timing. The loss suffers little as long as most examples share few features.
//
// The crew is no gain where every example has the same few features: their weights then move between the caches of the
// processors with each update.
type Crew struct {
	Learners []*Learner // each for one goroutine at a time

	mu    sync.Mutex
	whole *Learner
	base  []Scalars // of each learner at its last Sync
}

// NewCrew returns a crew of n learners that share the weights of l, and start from its sums. Until the crew has ended, l
// must not be used. l must not regularise all weights (Config.L1, Config.L2): what is due to them is one number, which
// learners cannot share.
func NewCrew(l *Learner, n int) *Crew {
	c := &Crew{whole: l}
	for range n {
		one := *l
		one.unmasked, one.ahead = nil, ahead{}
		c.Learners, c.base = append(c.Learners, &one), append(c.base, l.Scalars())
	}
	return c
}

// Sync adds what learner i has counted since its last Sync to the sums of the crew, and gives it those of the others: the
// weight of the examples, on which the decay of the rate depends, and the sums of the normalised rule. The goroutine of
// the learner must call it between two batches of examples, and at its end.
func (c *Crew) Sync(i int) {
	l, base, w := c.Learners[i], &c.base[i], c.whole
	c.mu.Lock()
	defer c.mu.Unlock()
	w.nsx += l.nsx - base.Nsx
	w.totalWeight += l.totalWeight - base.TotalWeight
	w.time += l.time - base.T
	w.mult = l.mult
	l.nsx, l.totalWeight, l.time = w.nsx, w.totalWeight, w.time
	*base = l.Scalars()
}
