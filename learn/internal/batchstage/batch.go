// SPDX-License-Identifier: Apache-2.0

package batchstage

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/internal/training"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/vector"
)

// Batch is the stage of passes of a batch solver (L-BFGS, CG). A step is one
// pass over the shard, which adds up what the solver asked for; its exchange
// adds the sums of all ranks; its commit hands them to the solver, which takes
// the same decision on every rank.
type Batch struct {
	BatchConfig
	solver batchSolver
	acc    summation

	short bool // there are too few of them to begin anew

	part *optim.Sums // over this rank's examples
	sums *optim.Sums // over those of all; the same, but where the state is kept
	row  []byte

	hessian bool      // a last pass is to find the diagonal of the Hessian at the end
	final   []float32 // what it has found

	best []float32 // the weights with the best holdout loss; nil: none kept
	stop bool      // the holdout loss no longer improves

	got solverState // of a state that is being read
}

// BatchConfig is what a stage of a batch solver works with.
type BatchConfig struct {
	Read    *examples.Reader
	Tally   *tally.Tally
	Job     *job.Job
	Console *output.Console
	Models  training.Models

	Config SolverConfig
	Passes int                    // that the solver may take
	Keeps  *training.Regularizers // what the output regularisers are made of, but for the outcome; nil: none are asked for
}

// NewBatch returns the machine of a solver that starts at the weights w, which it changes.
func NewBatch(c BatchConfig, w []float32) (*Batch, error) {
	if i := vector.FirstWild(w); i >= 0 {
		return nil, c.Read.Divergence(fmt.Errorf("%s cannot start at a weight of %v (number %d): the training before it diverged; repeat it with a lower learn.Config.SGD.LearningRate",
			c.Config.name(), w[i], i))
	}
	solver, err := c.Config.solver(w, c.Passes)
	if err != nil {
		return nil, err
	}
	c.Console.Table.Next = math.Inf(1) // no rows of progress: the trace takes their place
	return &Batch{
		BatchConfig: c, solver: solver,
		acc:     summation{read: c.Read, tally: c.Tally, semantics: c.Config.Semantics},
		hessian: c.Keeps != nil && c.Keeps.Hessian,
	}, nil
}

// Next returns the name of the next step, and whether there is one.
func (m *Batch) Next() (string, bool) {
	name, pass := m.Config.name(), m.solver.Row().Pass+1
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
func (m *Batch) Work(ctx context.Context) error {
	req := m.request()
	m.begin(req.Kind)
	m.acc.begin(req, m.part, m.solver.Row().Pass+1)
	if err := m.Read.Batches(ctx, m.acc.batch); err != nil {
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
func (m *Batch) request() optim.Request {
	if req, ok := m.solver.Request(); ok {
		return req
	}
	return optim.Request{Kind: optim.First, X: m.solver.Weights()}
}

// Exchange adds the sums of all ranks, in vw's order: diagonal, importance,
// loss, gradient; or the curvature alone.
func (m *Batch) Exchange(ctx context.Context, g *allreduce.Group) error {
	if err := m.Job.Ready(ctx); err != nil {
		return err
	}
	m.arrange(m.request().Kind)
	m.sums.Loss, m.sums.Weight, m.sums.Curvature = m.part.Loss, m.part.Weight, m.part.Curvature
	if m.Job.Total > 1 {
		if err := m.reduce(ctx, g, m.request().Kind); err != nil {
			return err
		}
	}
	if err := m.Tally.Share(ctx, job.Record{}); err != nil {
		return err
	}
	req, more := m.solver.Request()
	if !more || req.Kind == optim.Curvature {
		return nil // of the same weights as the pass before
	}
	return m.Tally.Validate(ctx, m.Tally.JudgeBy(func(fs []feature.Feature, initial float32, r loss.Range) float32 {
		return r.Clip(initial + float32(dot(req.X, fs)))
	}))
}

func (m *Batch) reduce(ctx context.Context, g *allreduce.Group, kind optim.Kind) error {
	sums, part := m.sums, m.part
	m.Job.Register(sums.Gradient, part.Gradient, sums.Diagonal, part.Diagonal)
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
func (m *Batch) reduceScalars(ctx context.Context, g *allreduce.Group, kind optim.Kind) error {
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
func (m *Batch) Commit() error {
	t := m.Tally
	h := m.Job.All.Stats.Holdout
	req, more := m.solver.Request()
	if more && t.Valid.Improves() {
		m.best = append(m.best[:0], req.X...)
	}
	better, stop := t.EndPass()
	if !more {
		m.hessian, m.final = false, m.sums.Diagonal
		return t.Report(m.Config.name())
	}
	if err := m.solver.Accept(m.sums); err != nil {
		if _, ok := errors.AsType[*optim.DivergeError](err); ok {
			return m.Read.Divergence(err)
		}
		return err
	}
	row := m.solver.Row()
	if t.Holdout && row.Pass > 1 { // vw shows the training loss of the first pass
		row.HeldOut, row.HoldoutKnown = true, h.PassWeight > 0
		if row.HoldoutKnown {
			row.Holdout = h.PassLoss / h.PassWeight
		}
	}
	m.row = optim.AppendRow(m.row[:0], row)
	if err := m.Console.Say(m.row); err != nil {
		return err
	}
	req, more = m.solver.Request()
	if better && more && t.Valid == nil {
		m.best = append(m.best[:0], req.X...)
	}
	if err := m.Models.SavePass(func() *model.Regressor {
		if more {
			return m.model(req.X)
		}
		return m.model(m.solver.Weights())
	}); err != nil {
		return err
	}
	if m.stop = stop; stop {
		if err := m.Console.Say([]byte("Early termination reached w.r.t. " + t.StoppedBy() + " set error")); err != nil {
			return err
		}
	}
	return t.Report(m.Config.name())
}

// Finish prints why the solver stopped, and ends training with the weights of the
// best pass if the holdout loss stopped it, as vw does, else with the last ones.
func (m *Batch) Finish() (training.Outcome, error) {
	m.acc = summation{}
	w := m.solver.Weights()
	if m.stop && m.best != nil {
		w = m.best
	}
	out := training.Outcome{Model: m.model(w), LogLoss: math.NaN()}
	status := m.solver.Status()
	if m.short {
		status = optim.PassLimit
	}
	verdict := optim.AppendVerdict(nil, status, m.solver.Row(), m.Config.Termination, m.Config.Semantics)
	if m.Keeps != nil {
		if out.Regularizers = m.regularizers(w); out.Regularizers == nil {
			if status == optim.PassLimit {
				verdict = verdict[:0]
			}
			verdict = append(verdict, noRegularizer...)
		}
	}
	if m.stop {
		return out, nil
	}
	return out, m.Console.Say(verdict)
}

// model is the model with the weights w: for prediction only, as vw's.
func (m *Batch) model(w []float32) *model.Regressor {
	return &model.Regressor{Header: m.Models.Header(false), Weights: model.View{Data: w}}
}

// Shrink restarts the solver at its current weights, with the passes that are left: its
// direction and its pairs come from sums that had the lost ranks in them.
func (m *Batch) Shrink() (void bool, err error) {
	m.best = nil
	done := m.solver.Row().Pass
	if _, more := m.solver.Request(); !more || done == 0 {
		return false, nil
	}
	if m.Console.MidLine {
		if err := m.Console.Say([]byte{'\n'}); err != nil {
			return true, err
		}
	}
	if m.Passes -= done; m.Passes < 2 { // a gradient and a curvature are the least
		m.short = true
		return true, nil
	}
	m.solver, err = m.Config.solver(m.solver.Weights(), m.Passes)
	return true, err
}

// noRegularizer is printed by vw 9 when the passes end before training has converged.
const noRegularizer = "Maximum number of passes reached. \n" +
	"Regular model file has been created. Output feature regularizer file is created only when the convergence is reached. " +
	"Try increasing the number of passes for convergence\n"

// regularizers returns the output regularisers of a run that ends with the weights w. It
// returns nil where vw 9 writes the model instead: unless training has converged before
// the last pass.
func (m *Batch) regularizers(w []float32) *training.Regularizers {
	r := *m.Keeps
	r.Header, r.Weights = m.Models.Header(false), w
	if r.Mixes { // vw cannot read it with --bfgs
		r.Header.Options = append(r.Header.Options, model.Option{Name: "conjugate_gradient"})
	}
	if r.Hessian {
		if r.Diagonal = m.final; r.Diagonal == nil { // the holdout loss stopped it before that pass
			r.Diagonal = m.solver.InPlace().Diagonal
		}
		return &r
	}
	if status := m.solver.Status(); m.stop || m.short || status == optim.PassLimit || m.solver.Row().Pass >= m.Passes {
		return nil
	}
	r.Precond, r.Ranks = m.solver.InPlace().Diagonal, float32(m.Job.Size())
	return &r
}
