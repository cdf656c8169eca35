// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/internal/training"
	"github.com/gvw-project/gvw/optim/sgd"
)

// OnlineConfig is what a stage of online learning works with.
type OnlineConfig struct {
	Read   *examples.Reader
	Tally  *tally.Tally
	Job    *job.Job
	Audit  *output.Audit // nil: nobody looks
	Models training.Models

	Rule   sgd.Config
	Base   training.Carried    // sums of the loaded model
	Length examples.PassLength // of the passes within one reading of the data
	Bare   bool                // the model has no resume state
	Passes int                 // to do
	// Reweighed says that vw predicts examples before it gives them the weight of their class.
	Reweighed bool
}
