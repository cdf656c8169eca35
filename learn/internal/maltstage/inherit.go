// SPDX-License-Identifier: Apache-2.0

package maltstage

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/malt"
)

// A process that replaces a lost rank takes the state of a rank that has trained: the counts and sums that do not
// travel in updates, then the floats of all weights as in an update of all of them. A segment without updates carries it.

// share creates the shared vector, and in a job that replaces lost ranks the segment of the state. A replacement has the
// state of another rank then.
func (s *Stage) share(g *malt.Group) (*malt.Vector[float32], error) {
	v, err := s.newVector(g)
	if err != nil || !s.join.OnLoss.Replaces() {
		return v, err
	}
	_, err = malt.NewSegment(g, "learner", 1, malt.SegmentConfig{
		ObjectConfig: malt.ObjectConfig{Graph: s.config.Graph, Custom: s.config.Custom},
		State:        func() ([]byte, error) { return s.appendState(nil), nil },
		Restore:      s.restore,
	})
	if err == nil && g.Inherits() {
		s.SkipExamples(v.Iteration() * uint64(s.config.Every))
	}
	return v, err
}

// appendState appends the state of this rank. Its program is in a call of the library.
func (s *Stage) appendState(dst []byte) []byte {
	for _, x := range s.Sums(nil) {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	}
	t := newWeights(s.online.Learner(), s.online.Rule)
	values := make([]float32, t.n*t.slots)
	for i := range t.n {
		t.write(values, i, t.n, t.get(uint32(i)))
	}
	for _, x := range values {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

// restore replaces the state of this rank by that of another one.
func (s *Stage) restore(state []byte) error {
	sums := s.Sums(nil)
	t := newWeights(s.online.Learner(), s.online.Rule)
	values := make([]float32, t.n*t.slots)
	if got, want := len(state), 8*len(sums)+4*len(values); got != want {
		return fmt.Errorf("the state of a learner has %d bytes, want %d: do all ranks have the same options?", got, want)
	}
	for i := range sums {
		sums[i] = math.Float64frombits(binary.LittleEndian.Uint64(state))
		state = state[8:]
	}
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(state))
		state = state[4:]
	}
	s.SetSums(sums)
	for i := range t.n {
		t.put(uint32(i), t.read(values, i, t.n))
	}
	return nil
}

// complete gives the weights of another rank to those that have joined after the end of all passes, and have none. All
// ranks call it.
func (s *Stage) complete(ctx context.Context, g *allreduce.Group) error {
	if !s.join.OnLoss.Replaces() || g.Size() == 1 {
		return nil
	}
	// The lowest rank that has weights, and 0 if some rank has none.
	have := []float64{float64(g.Rank()), 1}
	if s.empty {
		have = []float64{float64(g.Size()), 0}
	}
	if err := g.AllReduce(ctx, allreduce.Vec(have).Named("ranks with weights"), allreduce.Min); err != nil {
		return err
	}
	root, all := int(have[0]), have[1] == 1
	switch {
	case all:
		return nil
	case root == g.Size():
		return errors.New("all ranks have joined after the end of the passes: start the job again")
	}
	w := s.online.Learner().Weights()
	if !s.empty && root != g.Rank() {
		w = make([]float32, len(w)) // those of this rank count
	}
	return g.Broadcast(ctx, allreduce.Vec(w).Named("weights for ranks without"), root)
}

// lostError is the error of a rank that its job counts as lost. It ends the attempt and not the job.
type lostError struct{ error }

func (e lostError) Unwrap() error        { return e.error }
func (e lostError) Is(target error) bool { return target == allreduce.ErrLeaving }

// asLost returns a lostError for the refusal of an attempt in a job that replaces it, and otherwise err.
func (s *Stage) asLost(err error) error {
	if _, refused := errors.AsType[*allreduce.RefusedError](err); refused && s.join.OnLoss.Replaces() {
		return lostError{err}
	}
	return err
}
