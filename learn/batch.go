// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
)

// batch is the machine of passes of a batch solver (L-BFGS, CG). A step is one
// pass over the shard, which adds up what the solver asked for; its exchange
// adds the sums of all ranks; its commit hands them to the solver, which takes
// the same decision on every rank.
type batch struct {
	s      *session
	solver batchSolver
	acc    summation

	passes int             // that the solver may take
	short  bool            // there are too few of them to begin anew
	prior  descent.Penalty // --input_feature_regularizer; zero: none

	part *optim.Sums // over this rank's examples
	sums *optim.Sums // over those of all; the same, but where the state is kept
	row  []byte

	hessian bool      // a last pass is to find the diagonal of the Hessian at the end
	final   []float32 // what it has found

	best []float32 // the weights with the best holdout loss; nil: none kept
	stop bool      // the holdout loss no longer improves

	read solverState // of a state that is being read
}

var _ stage = (*batch)(nil)

// Next names the next step.
func (m *batch) Next() (string, bool) {
	name, pass := m.s.cfg.solverName(), m.solver.Row().Pass+1
	req, ok := m.solver.Request()
	switch {
	case m.stop || m.short:
		return "", false
	case ok:
		return fmt.Sprintf("%s pass %d (%v)", name, pass, req.Kind), true
	case m.hessian:
		return fmt.Sprintf("%s pass %d (Hessian at the end)", name, pass), true
	}
	return "", false
}

// Work answers the solver's request over this rank's shard.
func (m *batch) Work(ctx context.Context) error {
	req := m.request()
	m.begin(req.Kind)
	m.acc.begin(req, m.part, m.solver.Row().Pass+1)
	if err := m.s.batches(ctx, m.acc.batch); err != nil {
		return err
	}
	if err := m.acc.end(); err != nil {
		return err
	}
	m.solver.Prepare(m.part)
	return nil
}

// request is what this pass evaluates: what the solver asks for, or at the end
// the Hessian for the regulariser to be kept.
func (m *batch) request() optim.Request {
	if req, ok := m.solver.Request(); ok {
		return req
	}
	return optim.Request{Kind: optim.First, X: m.solver.Weights()}
}

// Exchange adds the sums of all ranks, in vw's order: diagonal, importance,
// loss, gradient; or the curvature alone.
func (m *batch) Exchange(ctx context.Context, g *allreduce.Group) error {
	if err := m.s.ready(ctx); err != nil {
		return err
	}
	m.arrange(m.request().Kind)
	m.sums.Loss, m.sums.Weight, m.sums.Curvature = m.part.Loss, m.part.Weight, m.part.Curvature
	if m.s.total > 1 {
		if err := m.reduce(ctx, g, m.request().Kind); err != nil {
			return err
		}
	}
	if err := m.s.share(ctx, record{}); err != nil {
		return err
	}
	req, more := m.solver.Request()
	if !more || req.Kind == optim.Curvature {
		return nil // of the same weights as the pass before
	}
	return m.s.validate(ctx, m.s.judgeBy(func(fs []feature.Feature, initial float32, r loss.Range) float32 {
		return r.Clip(initial + float32(dot(req.X, fs)))
	}))
}

func (m *batch) reduce(ctx context.Context, g *allreduce.Group, kind optim.Kind) error {
	sums, part := m.sums, m.part
	m.s.register(sums.Gradient, part.Gradient, sums.Diagonal, part.Diagonal)
	if kind == optim.First {
		if err := g.AllReduceInto(ctx, allreduce.Vec(sums.Diagonal).Named("diagonal of the Hessian"), allreduce.Vec(part.Diagonal), allreduce.Sum); err != nil {
			return err
		}
	}
	if err := m.reduceScalars(ctx, g, kind); err != nil {
		return err
	}
	if kind == optim.Curvature {
		return nil
	}
	return g.AllReduceInto(ctx, allreduce.Vec(sums.Gradient).Named("gradient"), allreduce.Vec(part.Gradient), allreduce.Sum)
}

// reduceScalars adds the numbers: one call of float64 among gvw ranks, vw's
// calls of one float32 each in a job with vw workers.
func (m *batch) reduceScalars(ctx context.Context, g *allreduce.Group, kind optim.Kind) error {
	sums := m.sums
	if !g.Stream() {
		v := [3]float64{sums.Loss, sums.Weight, sums.Curvature}
		if err := g.AllReduce(ctx, allreduce.Vec(v[:]).Named("loss"), allreduce.Sum); err != nil {
			return err
		}
		sums.Loss, sums.Weight, sums.Curvature = v[0], v[1], v[2]
		return nil
	}
	scalar := func(name string, x *float64) error {
		v, err := g.AccumulateScalar(ctx, name, float32(*x))
		*x = float64(v)
		return err
	}
	switch kind {
	case optim.First:
		if err := scalar("importance weight", &sums.Weight); err != nil {
			return err
		}
		return scalar("loss", &sums.Loss)
	case optim.Curvature:
		return scalar("curvature", &sums.Curvature)
	}
	return scalar("loss", &sums.Loss)
}

// Commit hands the sums to the solver and prints its row of vw's trace.
func (m *batch) Commit() error {
	s := m.s
	h := s.all.Stats.Holdout
	req, more := m.solver.Request()
	if more && s.valid.improves() {
		m.best = append(m.best[:0], req.X...)
	}
	better, stop := s.endPass()
	if !more {
		m.hessian, m.final = false, m.sums.Diagonal
		return s.report(s.cfg.solverName())
	}
	if err := m.solver.Accept(m.sums); err != nil {
		if _, ok := errors.AsType[*optim.DivergeError](err); ok {
			return s.divergence(err)
		}
		return err
	}
	row := m.solver.Row()
	if s.holdout.on && row.Pass > 1 { // vw shows the training loss of the first pass
		row.HeldOut, row.HoldoutKnown = true, h.PassWeight > 0
		if row.HoldoutKnown {
			row.Holdout = h.PassLoss / h.PassWeight
		}
	}
	m.row = optim.AppendRow(m.row[:0], row)
	if err := s.say(m.row); err != nil {
		return err
	}
	req, more = m.solver.Request()
	if better && more && s.valid == nil {
		m.best = append(m.best[:0], req.X...)
	}
	if err := s.savePass(func() trained {
		if more {
			return batchModel(s, req.X)
		}
		return batchModel(s, m.solver.Weights())
	}); err != nil {
		return err
	}
	if m.stop = stop; stop {
		if err := s.say([]byte("Early termination reached w.r.t. " + s.stoppedBy() + " set error")); err != nil {
			return err
		}
	}
	return s.report(s.cfg.solverName())
}

// finish prints why the solver stopped, and ends training with the weights of the
// best pass if the holdout loss stopped it, as vw does, else with the last ones.
func (m *batch) finish(r *runner) error {
	s := m.s
	m.acc = summation{}
	w := m.solver.Weights()
	if m.stop && m.best != nil {
		w = m.best
	}
	r.model = batchModel(s, w)
	status := m.solver.Status()
	if m.short {
		status = optim.PassLimit
	}
	verdict := optim.AppendVerdict(nil, status, m.solver.Row(), s.cfg.Batch.Termination.Value, s.cfg.Batch.Semantics)
	if s.cfg.regularizes() {
		if r.regularizers = m.regularizers(w); r.regularizers == nil {
			if status == optim.PassLimit {
				verdict = verdict[:0]
			}
			verdict = append(verdict, noRegularizer...)
		}
	}
	if m.stop {
		return nil
	}
	return s.say(verdict)
}
