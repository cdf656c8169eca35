// SPDX-License-Identifier: Apache-2.0

package training

import (
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// Outcome is the result of a stage.
type Outcome struct {
	Model        *model.Regressor
	Regularizers *Regularizers // nil: none
	LogLoss      float64       // of --oaa --probabilities; NaN: none
	Followed     ftrl.Sums     // sums of a learner of the FTRL family
}

// Models makes and saves the models of a training.
type Models interface {
	// Header returns the header of a model. resume reports that the model has resume state.
	Header(resume bool) model.Header
	// Resume returns the state that further training needs, except the regularisation that is
	// due.
	Resume(initialT float32) *model.Resume
	// SavePass saves the model of the pass that has just ended, if --save_per_pass is given.
	SavePass(made func() *model.Regressor) error
}

// Carried has the sums of a loaded model that continue besides its weights.
type Carried struct{ Nsx, TotalWeight, T float64 }
