// SPDX-License-Identifier: Apache-2.0

package sgd

import "github.com/gvw-project/gvw/feature"

// ahead are features of later examples. The loops over the features of an example prefetch their weights, some for four
// features of their own: a processor has a limited number of loads under way, and the loops leave it time between
// them. A loop takes away the features that it has served.
type ahead struct {
	fs     []feature.Feature
	perDot int // features that dot serves for four of its own
}

// The features that a loop serves for four of its own. All loops of an update together serve as many as
// there are. A prediction has only dot.
const (
	perDotOfUpdate = 1
	perDotOnly     = 4
	perSense       = 2
)

// Prefetch names features that come after the next Predict or Learn, which prefetches their weights while it
// computes. The learner does not use fs after that call, and its results do not depend on fs.
func (l *Learner) Prefetch(fs []feature.Feature) { l.ahead.fs = fs }

// fetch prefetches the next n of the weights that Prefetch has named.
func (l *Learner) fetch(n int) {
	a := &l.ahead
	if n = min(n, len(a.fs)); n > 0 {
		l.t.prefetch(a.fs[:n])
		a.fs = a.fs[n:]
	}
}
