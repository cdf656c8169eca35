// SPDX-License-Identifier: Apache-2.0

package training

import (
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// Outcome is what a stage ends with.
type Outcome struct {
	Model        *model.Regressor
	Regularizers *Regularizers // nil: none
	LogLoss      float64       // of --oaa --probabilities; NaN: none
	Followed     ftrl.Sums     // of a learner of the FTRL family
}

// Models makes the models of a training.
type Models interface {
	// Header returns what models begin with; resume says that a model has resume state.
	Header(resume bool) model.Header
	// Resume returns what training needs to go on, but for what regularisation is due.
	Resume(initialT float32) *model.Resume
	// SavePass saves the model of the pass that has just ended, if each pass is to have one.
	SavePass(made func() *model.Regressor) error
}

// Carried are the sums that a loaded model brings along besides its weights.
type Carried struct{ Nsx, TotalWeight, T float64 }
