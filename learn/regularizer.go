// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gvw-project/gvw/model"
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
