// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"github.com/gvw-project/gvw/feature"
)

// Calls counts the calls that vw makes to its learners, for --extra_metrics.
type Calls struct {
	PredictsFirst  bool // vw calls predict before each call of learn
	Learn, Predict uint64
}

// Count adds the calls for one example. learns reports whether the example is learned from if
// it has a label.
func (n *Calls) Count(ex *feature.Example, learns bool) {
	learns = learns && ex.Labeled()
	if learns {
		n.Learn++
	}
	if !learns || n.PredictsFirst {
		n.Predict++
	}
}
