// SPDX-License-Identifier: Apache-2.0

package model

import "slices"

// ruleOptions are kept for the sake of the state alone.
var ruleOptions = []string{"sgd", "adaptive", "adax", "normalized", "invariant", "learning_rate", "power_t"}

// ForPrediction drops the state with which training goes on, and the options
// that are kept for it. The model predicts as before.
func (r *Regressor) ForPrediction() {
	r.Settle()
	r.Resume = nil
	r.drop(ruleOptions)
}

// ForEverybody drops what names L-BFGS as the learner: vw 9 loads a file that
// keeps it under --predict_only_model alone, and predicts the same without.
func (r *Regressor) ForEverybody() { r.drop([]string{"bfgs", "conjugate_gradient"}) }

func (r *Regressor) drop(names []string) {
	r.Options = slices.DeleteFunc(slices.Clone(r.Options), func(o Option) bool { return slices.Contains(names, o.Name) })
}
