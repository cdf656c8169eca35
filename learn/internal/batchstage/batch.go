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

// Batch is the stage of passes of a batch solver (L-BFGS, CG, Newton, GIANT). A step is one pass over the
// shard, which computes the sums that the solver has asked for. Its exchange adds the sums of
// all ranks. Its commit passes them to the solver, which takes the same decision on every rank.
type Batch struct {
	BatchConfig
	solver batchSolver
	acc    summation

	size    int         // of the table of weights
	free    []uint32    // Config.Penalty.Free by indices
	numbers *numbers    // of the weights in the vectors; nil: they are the indices
	settled settled     // numbers for the commit of the first pass
	first   *optim.Sums // of the first pass, in the order of acc.first; nil: it has vectors by indices

	short bool // too few passes are left to start the solver again

	auto   bool   // Config.Method was Auto, and may have been replaced
	effort effort // of this process
	costs  costs  // measured in the first pass, for Auto

	part *optim.Sums // over this rank's examples
	sums *optim.Sums // over all ranks' examples; the same memory unless the state must survive
	row  []byte

	heldLoss, heldWeight float64 // of the pass that is being committed: sums over the examples held out

	hessian bool      // a last pass must compute the diagonal of the Hessian
	final   []float32 // the diagonal that it has computed

	best []float32 // weights with the best holdout loss; nil: none so far
	stop bool      // the holdout loss has stopped improving

	got solverState // from a state that is being read
}

// BatchConfig has the settings and the collaborators of a stage of a batch solver.
type BatchConfig struct {
	Read    *examples.Reader
	Tally   *tally.Tally
	Job     *job.Job
	Console *output.Console
	Models  training.Models

	Config SolverConfig
	Passes int                    // limit for the solver's passes
	Keeps  *training.Regularizers // settings of the output regularisers, without the outcome; nil: none are written
	// Room returns an error if vectors over so many weights do not fit into memory; nil: no check.
	Room func(weights int) error
}

// NewBatch returns the stage of a solver that starts at the weights w and changes them.
func NewBatch(c BatchConfig, w []float32) (*Batch, error) {
	if i := vector.FirstWild(w); i >= 0 {
		return nil, c.Read.Divergence(fmt.Errorf("%s cannot start at a weight of %v (number %d): the training before it diverged; repeat it with a lower learn.Config.SGD.LearningRate",
			c.Config.name(), w[i], i))
	}
	if err := c.Config.validate(len(w), c.Passes); err != nil {
		return nil, err
	}
	c.Console.Table.Next = math.Inf(1) // no rows: vw prints the trace of the solver instead
	return &Batch{
		BatchConfig: c, solver: unstarted{w}, size: len(w), free: c.Config.Penalty.Free,
		acc:     summation{read: c.Read, tally: c.Tally, semantics: c.Config.Semantics, quadratic: c.Config.quadratic()},
		hessian: c.Keeps != nil && c.Keeps.Hessian,
		auto:    c.Config.Method == Auto,
	}, nil
}

// Next returns the name of the next step, and reports whether there is one.
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
	if err := m.prepare(); err != nil {
		return err
	}
	req := m.request()
	m.begin(req.Kind)
	switch req.Kind {
	case optim.Product:
		return m.product(ctx, req, m.part.Gradient, req.Dir)
	case optim.Local:
		return m.local(ctx, req)
	}
	var seconds float64
	cached := !m.Read.Data.ReadsText()
	if err := timed(&seconds, func() error { return m.pass(ctx, req, m.part) }); err != nil {
		return err
	}
	if m.costs = (costs{pass: m.acc.busy.Seconds(), examples: float64(m.acc.n)}); cached {
		m.costs.pass = seconds // later passes read no text, and take less time than one that does
	}
	m.solver.Prepare(m.part)
	return nil
}

// pass reads the shard once and sums what the request asks for.
func (m *Batch) pass(ctx context.Context, req optim.Request, sums *optim.Sums) error {
	m.acc.renumber()
	m.acc.begin(req, sums, m.solver.Row().Pass+1)
	if err := m.acc.readAll(ctx); err != nil {
		return err
	}
	m.effort.passes++
	if err := m.acc.end(); err != nil {
		return err
	}
	if t := m.Tally; t.Passes == 0 && !t.Fixed {
		m.forget() // the range of predictions was still growing, and a pass that repeats this one has the final range
	}
	return nil
}

// request returns what this pass evaluates: the request of the solver, or at the end the
// Hessian for the output regularisers.
func (m *Batch) request() optim.Request {
	if req, ok := m.solver.Request(); ok {
		if m.Config.Method == Auto {
			req.Round = 1 // as the solvers count that collect in the first pass, of which one may be chosen
		}
		return req
	}
	return optim.Request{Kind: optim.First, X: m.solver.Weights()}
}

// Exchange adds the sums of all ranks. Its collectives come in the order of vw's bfgs.cc:
// diagonal, importance, loss, gradient. A curvature pass has the curvature only.
func (m *Batch) Exchange(ctx context.Context, g *allreduce.Group) error {
	if err := m.Job.Ready(ctx); err != nil {
		return err
	}
	if m.first != nil {
		part, err := m.settle(ctx, g)
		if err != nil {
			return err
		}
		m.part = part
		if m.sums = nil; !m.Job.Keep {
			m.sums = part
		}
	}
	m.arrange(m.request().Kind)
	m.sums.Loss, m.sums.Weight, m.sums.Curvature = m.part.Loss, m.part.Weight, m.part.Curvature
	m.sums.Trials = append(m.sums.Trials[:0], m.part.Trials...)
	m.sums.Matrix = append(m.sums.Matrix[:0], m.part.Matrix...)
	if m.Job.Total > 1 {
		if err := m.reduce(ctx, g, m.request()); err != nil {
			return err
		}
	}
	if err := m.Tally.Share(ctx, job.Record{}); err != nil {
		return err
	}
	req, more := m.solver.Request()
	if !more || req.Kind >= optim.Curvature {
		return nil // the weights are those of the pass before, and so are the measures
	}
	return m.Tally.Validate(ctx, m.Tally.JudgeBy(func(fs []feature.Feature, initial float32, r loss.Range) float32 {
		if m.numbers != nil {
			return r.Clip(initial + float32(m.numbers.dot(req.X, fs)))
		}
		return r.Clip(initial + float32(dot(req.X, fs)))
	}))
}

// reduce makes the collectives of one pass. The part of this rank stays as it is where the
// state must survive.
func (m *Batch) reduce(ctx context.Context, g *allreduce.Group, req optim.Request) error {
	sums, part, kind := m.sums, m.part, req.Kind
	m.Job.Register(sums.Gradient, part.Gradient, sums.Diagonal, part.Diagonal)
	if kind == optim.First {
		m.effort.vectors++
		if err := g.AllReduceInto(ctx, allreduce.Vec(sums.Diagonal).Named("diagonal of the Hessian"), allreduce.Vec(part.Diagonal), allreduce.Sum); err != nil {
			return err
		}
	}
	if req.Features != nil {
		m.effort.matrices++
		if err := g.AllReduce(ctx, allreduce.Vec(sums.Matrix).Named("Hessian"), allreduce.Sum); err != nil {
			return err
		}
	}
	switch kind {
	case optim.Matrix:
		return nil
	case optim.Trial:
		return g.AllReduce(ctx, allreduce.Vec(sums.Trials).Named("losses of steps"), allreduce.Sum)
	case optim.First, optim.Gradient, optim.Curvature:
		if err := m.reduceScalars(ctx, g, kind); err != nil {
			return err
		}
	}
	if kind == optim.Curvature {
		return nil
	}
	m.effort.vectors++
	err := timed(&m.costs.reduce, func() error {
		return g.AllReduceInto(ctx, allreduce.Vec(sums.Gradient).Named(vectorNames[kind]), allreduce.Vec(part.Gradient), allreduce.Sum)
	})
	if err != nil || m.Config.Method != Auto {
		return err
	}
	return m.costs.share(ctx, g)
}

// vectorNames are the names of the vectors in the log of collectives.
var vectorNames = map[optim.Kind]string{
	optim.First: "gradient", optim.Gradient: "gradient", optim.Product: "product with the Hessian", optim.Local: "direction",
}

// reduceScalars adds the scalars. Ranks of gvw use one call of float64. A job with vw workers
// uses vw's calls of one float32 each (accumulate.cc: accumulate_scalar).
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

// Commit passes the sums to the solver and prints its row of vw's trace.
func (m *Batch) Commit() error {
	began := m.settled.known
	if began {
		if err := m.start(); err != nil {
			return err
		}
	}
	t := m.Tally
	h := &m.Job.All.Stats.Holdout
	m.heldLoss, m.heldWeight = h.PassLoss, h.PassWeight
	req, more := m.solver.Request()
	if more && !counts(req.Kind) {
		return m.accept()
	}
	// The validation set has measured the weights of this request, before the solver moves on.
	if more && t.Valid.Improves() {
		m.best = append(m.best[:0], req.X...)
	}
	better, stop := t.EndPass()
	if !more {
		m.hessian, m.final = false, m.sums.Diagonal
		return t.ReportSolver(m.Config.name())
	}
	if m.Config.Method == Auto {
		if err := m.choose(); err != nil {
			return err
		}
	}
	if err := m.accept(); err != nil {
		return err
	}
	if (m.auto || began) && !m.Job.Keep {
		m.sums, m.part = nil, nil // they may belong to the solver before the choice, or to none
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
		if err := m.Console.Print([]byte("Early termination reached w.r.t. " + t.StoppedBy() + " set error")); err != nil {
			return err
		}
	}
	return t.ReportSolver(m.Config.name())
}

// accept passes the sums to the solver, and prints the row of its trace.
func (m *Batch) accept() error {
	if err := m.solver.Accept(m.sums); err != nil {
		if d, ok := errors.AsType[*optim.DivergeError](err); ok {
			d.Weight = m.acc.index(d.Weight)
			return m.Read.Divergence(err)
		}
		return err
	}
	row := m.solver.Row()
	if m.Tally.Holdout && row.Pass > 1 { // vw shows the training loss of the first pass
		row.HeldOut, row.HoldoutKnown = true, m.heldWeight > 0
		if row.HoldoutKnown {
			row.Holdout = m.heldLoss / m.heldWeight
		}
	}
	if m.row = optim.AppendRow(m.row[:0], row); len(m.row) == 0 {
		return nil
	}
	return m.Console.Print(m.row)
}

// Finish prints why the solver has stopped, and ends training. The model has the weights of the
// best pass if the holdout loss has stopped training, as in vw, and the last ones otherwise.
func (m *Batch) Finish() (training.Outcome, error) {
	m.acc = summation{}
	m.logEffort()
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
	return out, m.Console.Print(verdict)
}

// model returns the model with the weights w. As in vw it has no resume state.
func (m *Batch) model(w []float32) *model.Regressor {
	return &model.Regressor{Header: m.Models.Header(false), Weights: model.View{Data: m.table(w)}}
}

// Shrink starts the solver again at its current weights, with the passes that are left. Its
// direction and its pairs come from sums that include the lost ranks, and line searches would
// compare losses over different examples.
func (m *Batch) Shrink() (void bool, err error) {
	m.best = nil
	done := m.solver.Row().Pass
	if _, more := m.solver.Request(); !more || done == 0 {
		return false, nil
	}
	// The row of the interrupted pass has no end yet.
	if m.Console.MidLine {
		if err := m.Console.Print([]byte{'\n'}); err != nil {
			return true, err
		}
	}
	if m.Passes -= done; m.Passes < 2 { // a gradient and a curvature pass are the least
		m.short = true
		return true, nil
	}
	m.forget()
	m.solver, err = m.Config.solver(m.solver.Weights(), m.Passes)
	return true, err
}

// noRegularizer is the message of vw 9 when the passes end before training has converged.
const noRegularizer = "Maximum number of passes reached. \n" +
	"Regular model file has been created. Output feature regularizer file is created only when the convergence is reached. " +
	"Try increasing the number of passes for convergence\n"

// regularizers returns the output regularisers of a run that ends with the weights w. It
// returns nil where vw 9 writes the model instead: unless training has converged before the
// last pass.
func (m *Batch) regularizers(w []float32) *training.Regularizers {
	r := *m.Keeps
	r.Header, r.Weights = m.Models.Header(false), m.table(w)
	if r.Mixes { // vw cannot read such a file with --bfgs
		r.Header.Options = append(r.Header.Options, model.Option{Name: "conjugate_gradient"})
	}
	if r.Hessian {
		if r.Diagonal = m.final; r.Diagonal == nil { // the holdout loss has stopped training before the last pass
			r.Diagonal = m.solver.InPlace().Diagonal
		}
		r.Diagonal = m.table(r.Diagonal)
		return &r
	}
	if status := m.solver.Status(); m.stop || m.short || status == optim.PassLimit || m.solver.Row().Pass >= m.Passes {
		return nil
	}
	r.Precond, r.Ranks = m.table(m.solver.InPlace().Diagonal), float32(m.Job.Size())
	return &r
}
