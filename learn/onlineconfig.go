// SPDX-License-Identifier: Apache-2.0

package learn

import "github.com/gvw-project/gvw/optim/sgd"

// onlineConfig is what a stage of online learning works with.
type onlineConfig struct {
	read   *reader
	tally  *Tally
	job    *Job
	audit  *audit // nil: nobody looks
	models models

	rule   sgd.Config
	base   carried    // sums of the loaded model
	length passLength // of the passes within one reading of the data
	bare   bool       // the model has no resume state
	passes int        // to do
	// reweighed says that vw predicts examples before it gives them the weight of their class.
	reweighed bool
}
