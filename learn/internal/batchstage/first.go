// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"context"
	"log/slog"
	"math/bits"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/mem"
	"github.com/gvw-project/gvw/optim"
)

// The first pass finds out which weights occur in the data. Its sums are over these, in the order in which the
// rank has seen them. The exchange unites the weights of all ranks and numbers them, and the commit
// makes the solver, whose vectors have the weights with a number.

// unstarted is the solver before the first pass: a request at the weights where training starts.
type unstarted struct{ x []float32 }

func (s unstarted) Request() (optim.Request, bool) {
	return optim.Request{Kind: optim.First, X: s.x, Round: 1}, true
}
func (s unstarted) Weights() []float32   { return s.x }
func (s unstarted) Status() optim.Status { return optim.Running }
func (s unstarted) Row() optim.Row       { return optim.Row{} }
func (s unstarted) InPlace() *optim.Sums { return &optim.Sums{} }
func (s unstarted) Prepare(*optim.Sums)  {}
func (s unstarted) Accept(*optim.Sums) error {
	panic("BUG: learn: sums for a solver that has not started")
}

// settled are the numbers that the exchange of the first pass gives to the weights.
type settled struct {
	known   bool
	numbers *numbers // nil: so many weights occur that their indices are their numbers
}

// width returns the length of the vectors over the weights.
func (s *settled) width(table int) int {
	if s.numbers == nil {
		return table
	}
	return s.numbers.width()
}

// anyOf is the union of sets of weights, each a bit.
var anyOf = allreduce.NewOp("gvw: any of the bits", true, func(dst, a, b []uint64) {
	for i := range dst {
		dst[i] = a[i] | b[i]
	}
})

// numbersWeights reports whether the solver will have vectors over the weights that occur only. vw's
// workers send vectors of the whole table, and priors are of all weights. The inverse diagonals
// that vw 9 adds have an element also where a rank has seen no feature.
func (m *Batch) numbersWeights() bool {
	c := &m.Config
	return !m.Job.Group.Stream() && c.Penalty.Precision == nil && c.Semantics != optim.VW9
}

// settle unites and numbers the weights of all ranks, and returns the sums of this rank in their order.
func (m *Batch) settle(ctx context.Context, g *allreduce.Group) (*optim.Sums, error) {
	start, first := m.solver.Weights(), m.acc.first
	set := make([]uint64, (len(start)+63)/64)
	for _, index := range first.indices {
		set[index/64] |= 1 << (index % 64)
	}
	for lo, hi := range mem.Touched(start) {
		for i := lo + mem.Zeros(start[lo:hi]); i < hi; i += 1 + mem.Zeros(start[i+1:hi]) {
			if start[i] != 0 {
				set[i/64] |= 1 << (i % 64)
			}
		}
	}
	if m.Job.Total > 1 {
		if err := g.AllReduce(ctx, allreduce.Vec(set).Named("weights that occur"), anyOf); err != nil {
			return nil, err
		}
	}
	count := 0
	for _, word := range set {
		count += bits.OnesCount64(word)
	}
	m.settled = settled{known: true}
	to := first.indices
	if count < len(start)/2 {
		m.settled.numbers = numbered(ascending(set, count), len(start))
		to = make([]uint32, len(first.indices))
		for k, index := range first.indices {
			to[k] = m.settled.numbers.of(index)
		}
	}
	n := m.settled.width(len(start))
	part := &optim.Sums{Loss: m.first.Loss, Weight: m.first.Weight, Gradient: make([]float32, n), Diagonal: make([]float32, n)}
	for k, number := range to {
		part.Gradient[number], part.Diagonal[number] = m.first.Gradient[k], m.first.Diagonal[k]
	}
	return part, nil
}

// ascending returns the elements of a set, of which there are so many.
func ascending(set []uint64, count int) []uint32 {
	v := make([]uint32, 0, count)
	for i, word := range set {
		for ; word != 0; word &= word - 1 {
			v = append(v, uint32(64*i+bits.TrailingZeros64(word)))
		}
	}
	return v
}

// start makes the solver, after the exchange of the first pass.
func (m *Batch) start() (err error) {
	x := m.solver.Weights()
	if n := m.settled.numbers; n != nil && !n.prepared() { // another rank has sent them
		if err := n.check(); err != nil {
			return err
		}
		n.prepare()
	}
	if first := m.acc.first; first != nil && m.acc.quadratic != nil {
		m.acc.quadratic.renumber(first, m.settled.numbers, m.settled.width(len(x)))
	}
	m.acc.first, m.first, m.part = nil, nil, nil
	m.number(m.settled.numbers)
	m.settled = settled{}
	if m.numbers != nil {
		m.Read.Log.Debug("the vectors of the solver have the weights that occur in the data", slog.Int("weights", len(m.numbers.indices)), slog.Int("of", len(x)))
		x = m.numbers.compact(x)
	}
	if m.Room != nil {
		if err := m.Room(len(x)); err != nil {
			return err
		}
	}
	m.solver, err = m.Config.solver(x, m.Passes)
	return err
}

// number sets the numbers of the weights; nil: they are their indices.
func (m *Batch) number(n *numbers) {
	m.numbers, m.acc.numbers = n, n
	if n == nil {
		return
	}
	m.Config.Penalty.Free = nil
	for _, index := range m.free {
		if k := n.of(index); int(k) < len(n.indices) {
			m.Config.Penalty.Free = append(m.Config.Penalty.Free, k)
		}
	}
}

// table returns the weights as a table by their indices.
func (m *Batch) table(w []float32) []float32 {
	if m.numbers == nil {
		return w
	}
	return m.numbers.expand(w)
}
