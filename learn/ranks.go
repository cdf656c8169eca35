// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"slices"

	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// ranks are those of the job: all of them, until some are lost for good and the
// job goes on without (--on_loss shrink). Ranks keep their numbers then, and
// positions are counted among those that are left.
type ranks struct {
	rank  int        // this one's number
	total int        // at the start
	live  []int      // those that are left, in order; nil: all
	lost  []lostRank // in order
	kept  [][]byte   // the records as they were committed last; nil: no step was
}

// lostRank is the record that a rank sent last.
type lostRank struct {
	rank   int
	record []byte
}

// size is how many are left.
func (r *ranks) size() int {
	if r.live == nil {
		return r.total
	}
	return len(r.live)
}

// number is that of the rank at a position.
func (r *ranks) number(position int) int {
	if r.live == nil {
		return position
	}
	return r.live[position]
}

// position is that of this rank; negative: it is lost.
func (r *ranks) position() int {
	if r.live == nil {
		return r.rank
	}
	if at, ok := slices.BinarySearch(r.live, r.rank); ok {
		return at
	}
	return -1
}

// without keeps those in live. It returns why it cannot.
func (r *ranks) without(live []int) error {
	var before []int
	for i := range r.size() {
		before = append(before, r.number(i))
	}
	for i, rank := range live {
		if i > 0 && rank <= live[i-1] || !slices.Contains(before, rank) {
			return fmt.Errorf("ranks %v are to be left of %v: want some of them, in order", live, before)
		}
	}
	if !slices.Contains(live, r.rank) {
		return fmt.Errorf("the job goes on with ranks %v, without this one", live)
	}
	var kept [][]byte
	for i, record := range r.kept {
		if rank := before[i]; slices.Contains(live, rank) {
			kept = append(kept, record)
		} else {
			r.lost = append(r.lost, lostRank{rank, record})
		}
	}
	slices.SortFunc(r.lost, func(a, b lostRank) int { return a.rank - b.rank })
	r.live, r.kept = slices.Clone(live), kept
	return nil
}

// code is which ranks there are, and the records of the lost ones.
func (r *ranks) code(c *snapshot.Coder) {
	total := r.total
	c.Number("ranks", &total, snapshot.MaxCount)
	if c.Err == nil && total != r.total {
		c.Fail("it is of a job of %d ranks, and this one has %d", total, r.total)
	}
	n := len(r.live)
	if c.Number("ranks left", &n, r.total); c.Reading {
		r.live = nil
		if n > 0 {
			r.live = make([]int, n)
		}
	}
	for i := range r.live {
		c.Number("rank left", &r.live[i], r.total-1)
		if c.Err == nil && i > 0 && r.live[i] <= r.live[i-1] {
			c.Fail("ranks left: %d comes after %d", r.live[i], r.live[i-1])
		}
	}
	n = len(r.lost)
	if c.Number("ranks lost", &n, r.total); c.Reading {
		r.lost = make([]lostRank, n)
	}
	for i := range r.lost {
		l := &r.lost[i]
		c.Number("rank lost", &l.rank, r.total-1)
		c.Bytes(fmt.Sprintf("record of rank %d, which is lost", l.rank), &l.record, snapshot.MaxSmall)
	}
}
