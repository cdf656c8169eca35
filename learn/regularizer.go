// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/descent"
)

// regularizers are the output regularisers of a run.
type regularizers struct {
	header  model.Header
	weights []float32
	prior   descent.Penalty // --input_feature_regularizer; zero: none
	l2      float32
	mixes   bool // --conjugate_gradient was given
	hessian bool // training ends with a pass for the Hessian

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
	r := *m.keeps
	r.header, r.weights = m.models.header(false), w
	if r.mixes { // vw cannot read it with --bfgs
		r.header.Options = append(r.header.Options, model.Option{Name: "conjugate_gradient"})
	}
	if r.hessian {
		if r.diagonal = m.final; r.diagonal == nil { // the holdout loss stopped it before that pass
			r.diagonal = m.solver.InPlace().Diagonal
		}
		return &r
	}
	if status := m.solver.Status(); m.stop || m.short || status == optim.PassLimit || m.solver.Row().Pass >= m.passes {
		return nil
	}
	r.precond, r.ranks = m.solver.InPlace().Diagonal, float32(m.job.size())
	return &r
}
