// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"fmt"
	"math"

	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/cg"
	"github.com/gvw-project/gvw/optim/descent"
	"github.com/gvw-project/gvw/optim/lbfgs"
	"github.com/gvw-project/gvw/optim/newton"
)

// In a job that recovers from losses, a rank adds up into vectors of its own, and the sums of
// all ranks go into others. The vectors of the solver are its state and must survive the step.

// prepare makes the solver before the first pass, unless that pass numbers the weights.
func (m *Batch) prepare() (err error) {
	x, ok := m.solver.(unstarted)
	if !ok {
		return nil
	}
	if m.numbersWeights() {
		first := appearance(nil)
		m.acc.first = &first
		return nil
	}
	m.solver, err = m.Config.solver(x.x, m.Passes)
	return err
}

// begin provides the vectors for the sums over this rank's examples.
func (m *Batch) begin(kind optim.Kind) {
	if m.acc.first != nil { // the pass finds out their length
		m.first = &optim.Sums{}
		m.part = m.first
		return
	}
	if !m.Job.Keep {
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

// arrange provides the vectors for the sums over all ranks' examples.
func (m *Batch) arrange(kind optim.Kind) {
	if !m.Job.Keep {
		return
	}
	if m.sums == nil {
		m.sums = &optim.Sums{}
	}
	n := len(m.solver.Weights())
	if m.settled.known {
		n = m.settled.width(n)
	}
	room(m.sums, kind, n)
}

// room gives sums the vectors that a pass of the kind needs. Only the first pass, and perhaps
// the last, need the diagonal, so it is released in between.
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

// solverState is the state of a solver between two passes. One of its fields is set.
type solverState struct {
	start  *unstarted
	lbfgs  *lbfgs.State
	cg     *cg.State
	newton *newton.State
}

// solverState returns the state that is being read, or that of the current solver.
func (m *Batch) solverState() solverState {
	if m.got != (solverState{}) {
		return m.got
	}
	switch solver := m.solver.(type) {
	case unstarted:
		return solverState{start: &solver}
	case *lbfgs.Solver:
		st := solver.State()
		return solverState{lbfgs: &st}
	case *cg.Solver:
		st := solver.State()
		return solverState{cg: &st}
	case *newton.Solver:
		st := solver.State()
		return solverState{newton: &st}
	}
	panic(fmt.Sprintf("BUG: learn: the state of a %T is not known", m.solver))
}

// Shared codes the state of the solver, except its vectors.
func (m *Batch) Shared(c *snapshot.Coder) {
	m.got = solverState{}
	m.codeNumbers(c)
	if m.auto {
		method := int(m.Config.Method)
		c.F64("sample", &m.Config.Sample)
		if c.Number("solver", &method, int(Auto)); c.Reading() && Method(method) != m.Config.Method {
			c.FailWith(m.become(Method(method)))
		}
	}
	st := m.solverState()
	switch {
	case st.start != nil: // it has no state but its weights
	case st.newton != nil:
		codeNewton(c, &st.newton.Head)
	case st.cg != nil:
		codeHead(c, &st.cg.Head)
	default:
		codeHead(c, &st.lbfgs.Head)
		last := len(st.lbfgs.Rho) - 1
		c.Number("pairs of L-BFGS", &st.lbfgs.Older, last)
		c.Number("first pair of L-BFGS", &st.lbfgs.Origin, last)
		c.F64s("1/y's of the pairs", st.lbfgs.Rho)
	}
	c.Flag("Hessian at the end to come", &m.hessian)
	c.Flag("stopped early", &m.stop)
	c.Flag("too few passes left", &m.short)
	c.Number("passes left", &m.Passes, snapshot.MaxCount)
	n := len(m.solver.Weights())
	// The reader allocates these vectors here, and ReadArrays fills them.
	for _, v := range []*[]float32{&m.best, &m.final} {
		there := *v != nil
		if c.Flag("a further vector", &there); !c.Reading() {
			continue
		}
		if *v = nil; there {
			*v = make([]float32, n)
		}
	}
	if c.Reading() {
		m.got = st
	}
}

// SharedArrays returns the vectors of the state. Of the memory of L-BFGS they are the
// pairs in use, from the one in the making to the oldest.
func (m *Batch) SharedArrays() []snapshot.Array {
	st := m.solverState()
	arrays := indexArray(m.numbers)
	switch {
	case st.start != nil:
		arrays = append(arrays, snapshot.Array{Name: "weights", V: st.start.x})
	case st.newton != nil:
		for i, v := range st.newton.Vectors() {
			arrays = append(arrays, snapshot.Array{Name: newtonNames[i], V: v})
		}
	case st.lbfgs != nil:
		l := st.lbfgs
		arrays = append(arrays, snapshot.Array{Name: "weights", V: l.X}, snapshot.Array{Name: "direction", V: l.Dir}, snapshot.Array{Name: "preconditioner", V: l.Precond})
		for j := range l.Older + 1 {
			i := (l.Origin + j) % len(l.Y)
			arrays = append(arrays, snapshot.Array{Name: fmt.Sprintf("y of pair %d", j), V: l.Y[i]}, snapshot.Array{Name: fmt.Sprintf("s of pair %d", j), V: l.S[i]})
		}
	default:
		g := st.cg
		arrays = append(arrays, snapshot.Array{Name: "weights", V: g.X}, snapshot.Array{Name: "direction", V: g.Dir}, snapshot.Array{Name: "preconditioner", V: g.Precond},
			snapshot.Array{Name: "weights before the step", V: g.X0}, snapshot.Array{Name: "gradient before the step", V: g.G0})
	}
	if m.best != nil {
		arrays = append(arrays, snapshot.Array{Name: "best weights", V: m.best})
	}
	if m.final != nil {
		arrays = append(arrays, snapshot.Array{Name: "diagonal of the Hessian", V: m.final})
	}
	return arrays
}

// newtonNames are the names of the vectors of newton.State.
var newtonNames = [...]string{"weights", "weights before the step", "direction", "residual", "preconditioner", "further vector"}

// Own codes nothing. The record has everything that belongs to one rank.
func (m *Batch) Own(*snapshot.Coder) {}

// Adopt makes a solver from the state that has been read.
func (m *Batch) Adopt() (err error) {
	if m.numbers != nil {
		if err := m.numbers.check(); err != nil {
			return err
		}
		m.numbers.prepare()
	}
	m.number(m.numbers)
	m.acc.first, m.first, m.settled = nil, nil, settled{}
	if m.got.start == nil {
		m.solver, err = m.Config.restore(m.got, m.Passes)
	} else {
		m.solver = *m.got.start
	}
	m.got = solverState{}
	m.forget()
	m.sums, m.part = nil, nil          // they belong to the solver, which has been replaced, or are as long as its vectors were
	m.Console.Table.Next = math.Inf(1) // also if the records come from the stage of SGD
	return err
}

// Outcome codes the scalar sums.
func (m *Batch) Outcome(c *snapshot.Coder) {
	m.codeSettled(c)
	if c.Reading() {
		m.arrange(m.request().Kind)
	}
	for _, v := range []*float64{&m.sums.Loss, &m.sums.Weight, &m.sums.Curvature} {
		c.F64("sums", v)
	}
	req := m.request()
	if req.Kind == optim.Trial {
		if c.Reading() {
			m.sums.Trials = make([]float64, len(req.Steps))
		}
		c.F64s("losses of steps", m.sums.Trials)
	}
	if req.Features != nil {
		if c.Reading() {
			m.sums.Matrix = make([]float64, optim.Triangle(len(req.Features)))
		}
		c.F64s("Hessian", m.sums.Matrix)
	}
	if m.Config.Method == Auto {
		m.costs.code(c)
	}
}

// OutcomeArrays returns the vector sums that the current pass has.
func (m *Batch) OutcomeArrays() []snapshot.Array {
	arrays := indexArray(m.settled.numbers)
	kind := m.request().Kind
	if kind != optim.Curvature && kind != optim.Trial && kind != optim.Matrix {
		arrays = append(arrays, snapshot.Array{Name: "gradient", V: m.sums.Gradient})
	}
	if kind == optim.First {
		arrays = append(arrays, snapshot.Array{Name: "diagonal of the Hessian", V: m.sums.Diagonal})
	}
	return arrays
}

// codeHead codes the scalars of a search.
func codeHead(c *snapshot.Coder, h *descent.Head) {
	next, status := int(h.Next), int(h.Status)
	c.Number("next pass of the solver", &next, int(optim.Curvature))
	c.Number("status of the solver", &status, int(optim.PassLimit))
	h.Next, h.Status = optim.Kind(next), optim.Status(status)
	c.Number("passes of the solver", &h.Pass, snapshot.MaxCount)
	for _, v := range []*float64{&h.Weight, &h.Loss, &h.Step} {
		c.F64("numbers of the solver", v)
	}
	codeRow(c, &h.Last)
}

// codeNewton codes the scalars of Newton's method.
func codeNewton(c *snapshot.Coder, h *newton.Head) {
	next, status := int(h.Next), int(h.Status)
	c.Number("next pass of the solver", &next, int(optim.Matrix))
	c.Number("status of the solver", &status, int(optim.PassLimit))
	h.Next, h.Status = optim.Kind(next), optim.Status(status)
	for _, v := range []*int{&h.Pass, &h.Round, &h.Tried, &h.Iter, &h.Features} {
		c.Number("counts of the solver", v, snapshot.MaxCount)
	}
	for _, v := range []*float64{&h.Weight, &h.Loss, &h.Step, &h.Slope, &h.Rho, &h.Q} {
		c.F64("numbers of the solver", v)
	}
	codeRow(c, &h.Last)
}

// codeRow codes a row of the trace.
func codeRow(c *snapshot.Coder, r *optim.Row) {
	kind, move := int(r.Kind), int(r.Move)
	c.Number("pass of the trace", &r.Pass, snapshot.MaxCount)
	c.Number("kind of the trace", &kind, int(optim.Matrix))
	c.Number("move of the trace", &move, int(optim.Revise))
	r.Kind, r.Move = optim.Kind(kind), optim.Move(move)
	for _, v := range []*float64{
		&r.Loss, &r.Slope, &r.Conditioned, &r.Holdout, &r.Wolfe1, &r.Wolfe2, &r.Mix, &r.Factor, &r.Curvature, &r.Length, &r.Step,
	} {
		c.F64("trace", v)
	}
	for _, v := range []*bool{&r.HeldOut, &r.HoldoutKnown, &r.Mixes} {
		c.Flag("trace", v)
	}
}
