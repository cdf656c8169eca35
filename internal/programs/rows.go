// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"

	"github.com/gvw-project/gvw/malt"
)

// sharedRows is a shared vector of rows, of which a rank sends those that it has changed. nil is one that is not
// shared.
type sharedRows struct {
	vector  *malt.Vector[float32]
	width   int
	pending []bool // of each row: changed since the last exchange
	changed []int
	indices []uint32
	values  []float32

	// Every whole-th update has the rows as they are, and each of the others only the change since the last
	// exchange. 0 and 1: all have them as they are.
	whole int
	base  []float32 // the rows at the last exchange; nil if whole is below 2
}

// rows creates a shared vector of rows.
func (j *job) rows(name string, rows, width int) (*sharedRows, error) {
	v, err := j.vector(name, rows*width)
	if err != nil {
		return nil, err
	}
	s := &sharedRows{vector: v, width: width, pending: make([]bool, rows), whole: j.whole}
	j.rounds = append(j.rounds, s.begin)
	return s, nil
}

// begin notes the values of the rows at the begin of a round.
func (s *sharedRows) begin() {
	if s.whole > 1 {
		s.base = append(s.base[:0], s.vector.Values()...)
	}
}

// changes notes that a row has changed.
func (s *sharedRows) changes(row int) {
	if s != nil && !s.pending[row] {
		s.pending[row] = true
		s.changed = append(s.changed, row)
	}
}

// changesRows notes that rows have changed.
func (s *sharedRows) changesRows(rows []uint32) {
	for _, row := range rows {
		s.changes(int(row))
	}
}

// changesAll notes that all rows have changed.
func (s *sharedRows) changesAll() {
	for row := range s.pending {
		s.changes(row)
	}
}

// exchange sends the changed rows and merges those of other ranks.
func (s *sharedRows) exchange(ctx context.Context, merge malt.Merger[float32]) error {
	if err := s.send(ctx); err != nil {
		return err
	}
	_, err := s.vector.Gather(ctx, merge)
	return err
}

// send sends the changed rows.
func (s *sharedRows) send(ctx context.Context) error {
	local, whole := s.vector.Values(), s.isWhole(s.vector.Iteration()+1)
	s.indices, s.values = s.indices[:0], s.values[:0]
	for _, row := range s.changed {
		s.pending[row] = false
		for i := row * s.width; i < (row+1)*s.width; i++ {
			x := local[i]
			if !whole {
				x -= s.base[i]
			}
			s.indices, s.values = append(s.indices, uint32(i)), append(s.values, x)
		}
	}
	s.changed = s.changed[:0]
	return s.vector.ScatterSparse(ctx, s.indices, s.values)
}

// isWhole reports whether an update has the rows as they are.
func (s *sharedRows) isWhole(iteration uint64) bool {
	return s.whole < 2 || iteration%uint64(s.whole) == 0
}

// average averages rows that have arrived as they are, and adds changes with the weights of the graph.
func (s *sharedRows) average(v *malt.Vector[float32], in []malt.Incoming[float32]) {
	whole := make([]malt.Incoming[float32], 0, len(in))
	for _, u := range in {
		if s.isWhole(u.Iteration) {
			whole = append(whole, u)
			continue
		}
		local := v.Values()
		for j, i := range u.Indices {
			local[i] += float32(float32(u.Weight) * u.Values[j])
		}
	}
	if len(whole) > 0 {
		malt.AverageIncludingSelf(v, whole)
	}
}
