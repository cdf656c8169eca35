// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"math"

	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/cg"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/lbfgs"
)

// Where a job recovers from losses, a rank of a batch solver adds up in vectors of
// its own, and makes the sums of all ranks in others: the solver's are its state.

// begin makes room for the sums over this rank's examples.
func (m *batch) begin(kind optim.Kind) {
	if !m.s.keep {
		if m.sums == nil {
			m.sums = m.solver.InPlace()
		}
		m.part = m.sums
		return
	}
	if m.part == nil {
		m.part = &optim.Sums{}
	}
	room(m.part, kind, len(m.solver.Weights()))
}

// arrange makes room for the sums over those of all.
func (m *batch) arrange(kind optim.Kind) {
	if !m.s.keep {
		return
	}
	if m.sums == nil {
		m.sums = &optim.Sums{}
	}
	room(m.sums, kind, len(m.solver.Weights()))
}

// room gives sums the vectors that a pass of the kind needs. The diagonal is for
// the first pass, and perhaps the last.
func room(sums *optim.Sums, kind optim.Kind, n int) {
	if sums.Gradient == nil {
		sums.Gradient = make([]float32, n)
	}
	switch {
	case kind != optim.First:
		sums.Diagonal = nil
	case sums.Diagonal == nil:
		sums.Diagonal = make([]float32, n)
	}
}

// solverState is what a solver knows between two passes; one of the two is there.
type solverState struct {
	lbfgs *lbfgs.State
	cg    *cg.State
}

func (m *batch) solverState() solverState {
	if m.read != (solverState{}) {
		return m.read
	}
	switch solver := m.solver.(type) {
	case *lbfgs.Solver:
		st := solver.State()
		return solverState{lbfgs: &st}
	case *cg.Solver:
		st := solver.State()
		return solverState{cg: &st}
	}
	panic(fmt.Sprintf("BUG: learn: the state of a %T is not known", m.solver))
}

// shared is the solver's state but for its vectors.
func (m *batch) shared(c *coder) {
	m.read = solverState{}
	st := m.solverState()
	if st.cg != nil {
		codeHead(c, &st.cg.Head)
	} else {
		codeHead(c, &st.lbfgs.Head)
		last := len(st.lbfgs.Rho) - 1
		c.number("pairs of L-BFGS", &st.lbfgs.Older, last)
		c.number("first pair of L-BFGS", &st.lbfgs.Origin, last)
		c.f64s("1/y's of the pairs", st.lbfgs.Rho)
	}
	c.flag("Hessian at the end to come", &m.hessian)
	c.flag("stopped early", &m.stop)
	c.flag("too few passes left", &m.short)
	c.number("passes left", &m.passes, maxCount)
	n := len(m.solver.Weights())
	for _, v := range []*[]float32{&m.best, &m.final} {
		there := *v != nil
		if c.flag("a further vector", &there); !c.reading {
			continue
		}
		if *v = nil; there {
			*v = make([]float32, n)
		}
	}
	if c.reading {
		m.read = st
	}
}

// sharedArrays are the vectors of the state. Of the memory of L-BFGS they are the
// pairs in use, from the one in the making to the oldest.
func (m *batch) sharedArrays() []array {
	st := m.solverState()
	var arrays []array
	if l := st.lbfgs; l != nil {
		arrays = append(arrays, array{name: "weights", v: l.X}, array{name: "direction", v: l.Dir}, array{name: "preconditioner", v: l.Precond})
		for j := range l.Older + 1 {
			i := (l.Origin + j) % len(l.Y)
			arrays = append(arrays, array{name: fmt.Sprintf("y of pair %d", j), v: l.Y[i]}, array{name: fmt.Sprintf("s of pair %d", j), v: l.S[i]})
		}
	} else {
		g := st.cg
		arrays = append(arrays, array{name: "weights", v: g.X}, array{name: "direction", v: g.Dir}, array{name: "preconditioner", v: g.Precond},
			array{name: "weights before the step", v: g.X0}, array{name: "gradient before the step", v: g.G0})
	}
	if m.best != nil {
		arrays = append(arrays, array{name: "best weights", v: m.best})
	}
	if m.final != nil {
		arrays = append(arrays, array{name: "diagonal of the Hessian", v: m.final})
	}
	return arrays
}

// own is nothing: a record says it all.
func (m *batch) own(*coder) {}

// adopt makes a solver of the state that has been read.
func (m *batch) adopt() (err error) {
	c := &m.s.cfg
	if st := m.read.lbfgs; st != nil {
		m.solver, err = lbfgs.Restore(c.lbfgs(m.passes, m.prior), *st)
	} else {
		m.solver, err = cg.Restore(c.cg(m.passes, m.prior), *m.read.cg)
	}
	m.read = solverState{}
	if !m.s.keep {
		m.sums, m.part = nil, nil // the solver's own, which is another one now
	}
	m.s.table.next = math.Inf(1) // also where the records are those of SGD
	return err
}

// outcome are the sums that are numbers.
func (m *batch) outcome(c *coder) {
	if c.reading {
		m.arrange(m.request().Kind)
	}
	for _, v := range []*float64{&m.sums.Loss, &m.sums.Weight, &m.sums.Curvature} {
		c.f64("sums", v)
	}
}

// outcomeArrays are the sums that are vectors.
func (m *batch) outcomeArrays() []array {
	var arrays []array
	kind := m.request().Kind
	if kind != optim.Curvature {
		arrays = append(arrays, array{name: "gradient", v: m.sums.Gradient})
	}
	if kind == optim.First {
		arrays = append(arrays, array{name: "diagonal of the Hessian", v: m.sums.Diagonal})
	}
	return arrays
}

// codeHead is the numbers of a search.
func codeHead(c *coder, h *descent.Head) {
	next, status := int(h.Next), int(h.Status)
	c.number("next pass of the solver", &next, int(optim.Curvature))
	c.number("status of the solver", &status, int(optim.PassLimit))
	h.Next, h.Status = optim.Kind(next), optim.Status(status)
	c.number("passes of the solver", &h.Pass, maxCount)
	for _, v := range []*float64{&h.Weight, &h.Loss, &h.Step} {
		c.f64("numbers of the solver", v)
	}
	codeRow(c, &h.Last)
}

// codeRow is a row of the trace.
func codeRow(c *coder, r *optim.Row) {
	kind, move := int(r.Kind), int(r.Move)
	c.number("pass of the trace", &r.Pass, maxCount)
	c.number("kind of the trace", &kind, int(optim.Curvature))
	c.number("move of the trace", &move, int(optim.Revise))
	r.Kind, r.Move = optim.Kind(kind), optim.Move(move)
	for _, v := range []*float64{
		&r.Loss, &r.Slope, &r.Conditioned, &r.Holdout, &r.Wolfe1, &r.Wolfe2, &r.Mix, &r.Factor, &r.Curvature, &r.Length, &r.Step,
	} {
		c.f64("trace", v)
	}
	for _, v := range []*bool{&r.HeldOut, &r.HoldoutKnown, &r.Mixes} {
		c.flag("trace", v)
	}
}
