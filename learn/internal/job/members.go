// SPDX-License-Identifier: Apache-2.0

package job

import (
	"fmt"
	"slices"

	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// members are the ranks of the job: all of them, until the job continues without some
// (--on_loss shrink). The remaining ranks keep their numbers. Positions count only the
// remaining ranks.
type members struct {
	Rank      int        // number of this rank
	Total     int        // number of ranks at the start
	Live      []int      // remaining ranks, in order; nil: all
	Lost      []lostRank // lost ranks, in order
	Committed [][]byte   // committed records of the remaining ranks; nil: no step has been committed
}

// lostRank is a lost rank and the record that it committed last.
type lostRank struct {
	Rank   int
	Record []byte
}

// Size returns the number of remaining ranks.
func (r *members) Size() int {
	if r.Live == nil {
		return r.Total
	}
	return len(r.Live)
}

// Number returns the number of the rank at a position.
func (r *members) Number(position int) int {
	if r.Live == nil {
		return position
	}
	return r.Live[position]
}

// position returns the position of this rank. It is negative if this rank is lost.
func (r *members) position() int {
	if r.Live == nil {
		return r.Rank
	}
	if at, ok := slices.BinarySearch(r.Live, r.Rank); ok {
		return at
	}
	return -1
}

// Without removes the ranks that are not in live, which lists remaining ranks in order. The
// records that the removed ranks have committed still count in the sums of the job.
func (r *members) Without(live []int) error {
	var before []int
	for i := range r.Size() {
		before = append(before, r.Number(i))
	}
	for i, rank := range live {
		if i > 0 && rank <= live[i-1] || !slices.Contains(before, rank) {
			return fmt.Errorf("ranks %v are to be left of %v: want some of them, in order", live, before)
		}
	}
	if !slices.Contains(live, r.Rank) {
		return fmt.Errorf("the job has continued with ranks %v, without this one", live)
	}
	// Committed is empty if no step was completed; then the lost ranks leave no records.
	var kept [][]byte
	for i, record := range r.Committed {
		if rank := before[i]; slices.Contains(live, rank) {
			kept = append(kept, record)
		} else {
			r.Lost = append(r.Lost, lostRank{rank, record})
		}
	}
	slices.SortFunc(r.Lost, func(a, b lostRank) int { return a.Rank - b.Rank })
	r.Live, r.Committed = slices.Clone(live), kept
	return nil
}

// code codes the remaining ranks and the records of the lost ones.
func (r *members) code(c *snapshot.Coder) {
	total := r.Total
	c.Number("ranks", &total, snapshot.MaxCount)
	if c.Err() == nil && total != r.Total {
		c.Fail("it is of a job of %d ranks, and this one has %d", total, r.Total)
	}
	n := len(r.Live)
	if c.Number("ranks left", &n, r.Total); c.Reading() {
		r.Live = nil
		if n > 0 {
			r.Live = make([]int, n)
		}
	}
	for i := range r.Live {
		c.Number("rank left", &r.Live[i], r.Total-1)
		if c.Err() == nil && i > 0 && r.Live[i] <= r.Live[i-1] {
			c.Fail("ranks left: %d comes after %d", r.Live[i], r.Live[i-1])
		}
	}
	n = len(r.Lost)
	if c.Number("ranks lost", &n, r.Total); c.Reading() {
		r.Lost = make([]lostRank, n)
	}
	for i := range r.Lost {
		l := &r.Lost[i]
		c.Number("rank lost", &l.Rank, r.Total-1)
		c.Blob(fmt.Sprintf("record of rank %d, which is lost", l.Rank), &l.Record, snapshot.MaxSmall)
	}
}
