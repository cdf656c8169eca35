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
// travel in updates, the floats of all weights as in an update of all of them, and with an outer optimiser the weights
// after its last step and their velocities. A segment without updates carries it.

// share creates the shared vector, and in a job that replaces lost ranks the segment of the state. A replacement has the
// state of another rank then.
func (s *Stage) share(g *malt.Group) (*malt.Vector[float32], error) {
	v, err := s.newVector(g)
	if err != nil || !s.join.OnLoss.Replaces() {
		return v, err
	}
	s.outer = newOuterState(s.config, newWeights(s.online.Learner(), s.online.Rule))
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
func (s *Stage) appendState(dst []byte) []byte { return s.trained().append(dst) }

// restore replaces the state of this rank by that of another one.
func (s *Stage) restore(state []byte) error {
	x := s.trained()
	err := x.read(state)
	if err == nil {
		s.SetSums(x.sums)
	}
	return err
}

// trained is what a replacement takes over.
type trained struct {
	sums  []float64
	table weights
	outer outerState
}

func (s *Stage) trained() trained {
	return trained{s.Sums(nil), newWeights(s.online.Learner(), s.online.Rule), s.outer}
}

// append appends it to dst.
func (x trained) append(dst []byte) []byte {
	for _, sum := range x.sums {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(sum))
	}
	values := make([]float32, x.table.n*x.table.slots)
	for i := range x.table.n {
		x.table.write(values, i, x.table.n, x.table.get(uint32(i)))
	}
	for _, list := range [][]float32{values, x.outer.weights, x.outer.velocities} {
		for _, v := range list {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
		}
	}
	return dst
}

// read overwrites it by what append has written.
func (x trained) read(state []byte) error {
	values := make([]float32, x.table.n*x.table.slots)
	if got, want := len(state), 8*len(x.sums)+4*(len(values)+len(x.outer.weights)+len(x.outer.velocities)); got != want {
		return fmt.Errorf("the state of a learner has %d bytes, want %d: do all ranks have the same options?", got, want)
	}
	for i := range x.sums {
		x.sums[i] = math.Float64frombits(binary.LittleEndian.Uint64(state))
		state = state[8:]
	}
	for _, list := range [][]float32{values, x.outer.weights, x.outer.velocities} {
		for i := range list {
			list[i] = math.Float32frombits(binary.LittleEndian.Uint32(state))
			state = state[4:]
		}
	}
	for i := range x.table.n {
		x.table.put(uint32(i), x.table.read(values, i, x.table.n))
	}
	return nil
}

// outerState is the state of the outer optimiser; without one it is empty. During training it is the memory of the
// mixer's optimiser.
type outerState struct{ weights, velocities []float32 }

// newOuterState returns the state before the first step.
func newOuterState(config Config, table weights) (o outerState) {
	if config.Outer.Plain() {
		return o
	}
	o.weights, o.velocities = make([]float32, table.n), make([]float32, table.n)
	for i := range o.weights {
		o.weights[i] = table.learner.At(uint32(i))
	}
	return o
}

// take makes o the state of the mixer's outer optimiser, and returns that state.
func (m *mixer) take(o outerState) outerState {
	if o.weights == nil {
		return o
	}
	weights, velocities := m.outer.State()
	copy(weights, o.weights)
	copy(velocities, o.velocities)
	return outerState{weights, velocities}
}

// complete gives the weights of another rank to those that have joined after the end of all passes, and have none. All
// ranks call it.
func (s *Stage) complete(ctx context.Context, g *allreduce.Group) error {
	if !s.join.OnLoss.Replaces() || g.Size() == 1 {
		return nil
	}
	// The lowest rank that has weights, infinite if no rank has some; and 0 if some rank has none.
	have := []float64{float64(g.Rank()), 1}
	if s.empty {
		have = []float64{math.Inf(1), 0}
	}
	if err := g.AllReduce(ctx, allreduce.Vec(have).Named("ranks with weights"), allreduce.Min); err != nil {
		return err
	}
	switch {
	case have[1] == 1:
		return nil
	case math.IsInf(have[0], 1):
		return errors.New("all ranks have joined after the end of the passes: start the job again")
	}
	root := int(have[0])
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

// asLost returns a lostError for the refusal of an attempt in a job that replaces it, and otherwise err. Another attempt
// of a job that a user has cancelled is of no use.
func (s *Stage) asLost(err error) error {
	if r, refused := errors.AsType[*allreduce.RefusedError](err); refused && !r.Cancelled() && s.join.OnLoss.Replaces() {
		return lostError{err}
	}
	return err
}
