// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gvw-project/gvw/feature"
)

// calls counts the calls that vw makes to its learners, for --extra_metrics.
type calls struct {
	predictsFirst  bool // vw calls predict before each call of learn
	learn, predict uint64
}

// count adds the calls for one example. learns says that it is learned from, if it has a
// label.
func (n *calls) count(ex *feature.Example, learns bool) {
	learns = learns && ex.Labeled()
	if learns {
		n.learn++
	}
	if !learns || n.predictsFirst {
		n.predict++
	}
}
