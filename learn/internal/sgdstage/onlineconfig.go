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

// OnlineConfig has the settings and the collaborators of a stage of online learning.
type OnlineConfig struct {
	Read   *examples.Reader
	Tally  *tally.Tally
	Job    *job.Job
	Audit  *output.Audit // nil: no audit
	Models training.Models

	Rule   sgd.Config          // update rule of SGD; for the FTRL family only InitialT counts
	Base   training.Carried    // sums of the loaded model
	Length examples.PassLength // ends of passes within one reading of the data
	Bare   bool                // the model has no resume state
	Passes int                 // number of passes
	// Threads is the number of goroutines that learn, without locks, from a pass; 0: 1. More than one need a job that does
	// not recover from losses, and a Rule, Length and Read without regularisation, ends of passes and shuffling.
	Threads int
	// Replicas needs what Threads needs, a Rule that is Mergeable, and training.
	Replicas Replicas
	// Reweighed reports whether vw predicts an example before it gives it the weight of its
	// class (classweight.cc).
	Reweighed bool
}
