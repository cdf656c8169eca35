// SPDX-License-Identifier: Apache-2.0

package training

import (
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/descent"
)

// Regularizers are the output regularisers of a run.
type Regularizers struct {
	Header  model.Header
	Weights []float32
	Prior   descent.Penalty // --input_feature_regularizer; zero: none
	L2      float32
	Mixes   bool // --conjugate_gradient was given
	Hessian bool // training ends with a pass for the Hessian

	Diagonal []float32 // of the Hessian at the end; nil: as in vw 9
	// For vw 9: the preconditioner at the end, and the number of ranks that add theirs.
	Precond []float32
	Ranks   float32
}

// File returns the regularisers for the n-th file of the run, from 1. Their precision is λ plus
// the diagonal of the Hessian, and their means are the weights. Instead of the Hessian vw 9 has
// the inverse of the preconditioner, which is λ again (λ/n on n ranks), and adds it once for
// each file.
func (r *Regularizers) File(n int) *model.Regularizer {
	reg := &model.Regularizer{Header: r.Header, Precision: make([]float32, len(r.Weights)), Mean: r.Weights}
	for i := range reg.Precision {
		v := r.L2
		if r.Prior.Precision != nil {
			v = r.Prior.Precision[i]
		}
		switch {
		case r.Diagonal != nil:
			v += r.Diagonal[i]
		case r.Precond[i] > 0:
			for range n {
				v += 1 / float32(r.Precond[i]*r.Ranks)
			}
		}
		reg.Precision[i] = v
	}
	return reg
}
