// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"fmt"
	"io"

	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
)

// A regulariser of each weight carries what earlier data taught to a training
// on new data: the weights of then as centres, and as λ the diagonal of the
// Hessian there, which says how sure they were.

// regularizes reports whether a rank of the job writes output regularisers.
func (c *Config) regularizes() bool {
	return c.Reg.OutputOnAnyRank || c.Reg.Output+c.Reg.OutputText != ""
}

// keepsHessian reports whether training ends with a pass for the Hessian of the output
// regularisers. vw 9 has no such pass.
func (c *Config) keepsHessian() bool {
	return c.regularizes() && !c.TestOnly && (c.Batch.BFGS || c.Hybrid != nil) && c.Batch.Semantics == optim.VW7
}

// loadRegularizer reads --input_feature_regularizer and merges what it keeps
// into cfg, as loadModel does. What is read of it goes to read.
func loadRegularizer(cfg *Config, read io.Writer) (prior descent.Penalty, labels loss.Range, err error) {
	name := cfg.Reg.Input
	f, err := cfg.Model.Open(name)
	if err != nil {
		return prior, labels, fmt.Errorf("cannot open the regularisers: %w", err)
	}
	reg, err := model.ReadRegularizer(io.TeeReader(f, read), model.Limits{Bits: 30})
	if err = errors.Join(err, f.Close()); err != nil {
		return prior, labels, fmt.Errorf("regularisers %s: %w", name, err)
	}
	if cfg.Features.BitsSet && cfg.Features.Bits != reg.Bits {
		return prior, labels, usage("--bit_precision", "%s was made with -b %d, but -b %d was given: leave -b away", name, reg.Bits, cfg.Features.Bits)
	}
	cfg.Features.Bits = reg.Bits
	if err := cfg.takeOptions(name, &reg.Header); err != nil {
		return prior, labels, err
	}
	if err := cfg.Validate(); err != nil {
		return prior, labels, err
	}
	for i, v := range reg.Precision {
		if !(v >= 0) {
			return prior, labels, &DataError{Name: name, Text: fmt.Sprintf("the regulariser of weight %d is %v: it cannot be negative", i, v)}
		}
	}
	labels = loss.Range{Min: reg.MinLabel, Max: reg.MaxLabel}
	return descent.Penalty{Precision: reg.Precision, Mean: reg.Mean}, labels, nil
}

// regularizers are the output regularisers of a run.
type regularizers struct {
	header  model.Header
	weights []float32
	prior   descent.Penalty
	l2      float32

	diagonal []float32 // of the Hessian at the end; nil: as vw 9
	// of vw 9: the preconditioner at the end, and the number of ranks that add theirs
	precond []float32
	ranks   float32
}

// file returns the regularisers for the n-th file of the run, from 1: λ plus the Hessian's
// diagonal as precision, and the weights as means. In place of the Hessian vw 9 has the
// inverse of the preconditioner, which is λ again (λ/n on n ranks), and adds it once for
// each file.
func (r *regularizers) file(n int) *model.Regularizer {
	reg := &model.Regularizer{Header: r.header, Precision: make([]float32, len(r.weights)), Mean: r.weights}
	for i := range reg.Precision {
		v := r.l2
		if r.prior.Precision != nil {
			v = r.prior.Precision[i]
		}
		switch {
		case r.diagonal != nil:
			v += r.diagonal[i]
		case r.precond[i] > 0:
			for range n {
				v += 1 / float32(r.precond[i]*r.ranks)
			}
		}
		reg.Precision[i] = v
	}
	return reg
}

// noRegularizer is printed by vw 9 when the passes end before training has converged.
const noRegularizer = "Maximum number of passes reached. \n" +
	"Regular model file has been created. Output feature regularizer file is created only when the convergence is reached. " +
	"Try increasing the number of passes for convergence\n"

// regularizers returns the output regularisers of a run that ends with the weights w. It
// returns nil where vw 9 writes the model instead: unless training has converged before
// the last pass.
func (m *batch) regularizers(w []float32) *regularizers {
	s := m.s
	r := &regularizers{header: s.header(false), weights: w, prior: m.prior, l2: float32(s.cfg.Reg.L2)}
	if s.cfg.Batch.ConjugateGradient { // vw cannot read it with --bfgs
		r.header.Options = append(r.header.Options, model.Option{Name: "conjugate_gradient"})
	}
	if s.cfg.keepsHessian() {
		if r.diagonal = m.final; r.diagonal == nil { // the holdout loss stopped it before that pass
			r.diagonal = m.solver.InPlace().Diagonal
		}
		return r
	}
	if status := m.solver.Status(); m.stop || m.short || status == optim.PassLimit || m.solver.Row().Pass >= m.passes {
		return nil
	}
	r.precond, r.ranks = m.solver.InPlace().Diagonal, float32(s.size())
	return r
}

// writeRegularizer and writeRegularizerText write the output regularisers. A run that has
// none, such as one of SGD, writes its model there, as vw does.
func (r *runner) writeRegularizer(w io.Writer) ([32]byte, error) {
	if r.regularizers == nil {
		return model.WriteDigest(w, r.model.reg)
	}
	return digested(func(w io.Writer) error { return model.WriteRegularizer(w, r.regularizers.file(1)) })(w)
}

func (r *runner) writeRegularizerText(w io.Writer) ([32]byte, error) {
	if r.regularizers == nil {
		return r.writeReadable(w)
	}
	nth := 1
	if c := &r.session.cfg; c.Reg.Output+c.Model.Final != "" {
		nth = 2
	}
	return digested(func(w io.Writer) error { return model.WriteRegularizerText(w, r.regularizers.file(nth)) })(w)
}

// openRegularizers starts the files, so that a folder that does not exist is
// noticed before the training.
func (r *runner) openRegularizers() (err error) {
	c := &r.session.cfg
	if c.Reg.Output != "" {
		if r.regularizerFile, err = c.Output.Create(c.Reg.Output); err != nil {
			return err
		}
	}
	if c.Reg.OutputText != "" {
		r.regularizerText, err = c.Output.Create(c.Reg.OutputText)
	}
	return err
}
