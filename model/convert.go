// SPDX-License-Identifier: Apache-2.0

package model

import "slices"

// ruleOptions are kept only because the state for further training needs them.
var ruleOptions = []string{"sgd", "adaptive", "adax", "normalized", "invariant", "learning_rate", "power_t"}

// ForPrediction removes the state for further training, and the options
// that belong to it. The predictions do not change.
func (r *Regressor) ForPrediction() {
	r.Settle()
	r.Resume = nil
	r.drop(ruleOptions)
}

// ForEverybody removes the options that name L-BFGS as the learner. vw 9 loads a file with
// these options only with --predict_only_model; it predicts the same without them.
func (r *Regressor) ForEverybody() { r.drop([]string{"bfgs", "conjugate_gradient"}) }

func (r *Regressor) drop(names []string) {
	r.Options = slices.DeleteFunc(slices.Clone(r.Options), func(o Option) bool { return slices.Contains(names, o.Name) })
}
