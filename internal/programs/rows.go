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
}

// rows creates a shared vector of rows.
func (j *job) rows(name string, rows, width int) (*sharedRows, error) {
	v, err := j.vector(name, rows*width)
	if err != nil {
		return nil, err
	}
	return &sharedRows{vector: v, width: width, pending: make([]bool, rows)}, nil
}

// changes notes that a row has changed.
func (s *sharedRows) changes(row int) {
	if s != nil && !s.pending[row] {
		s.pending[row] = true
		s.changed = append(s.changed, row)
	}
}

// exchange sends the changed rows and merges those of other ranks.
func (s *sharedRows) exchange(ctx context.Context, merge malt.Merger[float32]) error {
	s.indices, s.values = s.indices[:0], s.values[:0]
	for _, row := range s.changed {
		s.pending[row] = false
		for i := row * s.width; i < (row+1)*s.width; i++ {
			s.indices, s.values = append(s.indices, uint32(i)), append(s.values, s.vector.Values()[i])
		}
	}
	s.changed = s.changed[:0]
	if err := s.vector.ScatterSparse(ctx, s.indices, s.values); err != nil {
		return err
	}
	_, err := s.vector.Gather(ctx, merge)
	return err
}
