// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// outcome is what a stage ends with.
type outcome struct {
	model        *model.Regressor
	regularizers *regularizers // nil: none
	logLoss      float64       // of --oaa --probabilities; NaN: none
	followed     ftrl.Sums     // of a learner of the FTRL family
}

// models makes the models of a training.
type models interface {
	// header returns what models begin with; resume says that a model has resume state.
	header(resume bool) model.Header
	// resume returns what training needs to go on, but for what regularisation is due.
	resume(initialT float32) *model.Resume
	// savePass saves the model of the pass that has just ended, if each pass is to have one.
	savePass(made func() *model.Regressor) error
}

// carried are the sums that a loaded model brings along besides its weights.
type carried struct{ Nsx, TotalWeight, T float64 }
