// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"

	"github.com/gvw-project/gvw/loss"
)

// oddLabels warns of the first label that the loss function is not made for:
// it is learned from all the same, as vw does, but hardly what the user wants.
type oddLabels struct {
	want  loss.Range
	first bool // there is a range, and no label outside has been seen
}

func newOddLabels(l loss.Loss) oddLabels {
	r, ok := loss.Labels(l)
	return oddLabels{want: r, first: ok}
}

func (o *oddLabels) fits(y float32) bool { return y >= o.want.Min && y <= o.want.Max }

func (o *oddLabels) warn(s *session, y float32) {
	o.first = false
	s.log.Warn(fmt.Sprintf("label %g is not in the range from %g to %g that the %s loss expects (further ones are not shown)",
		y, o.want.Min, o.want.Max, s.loss.Name()), "example", s.stats.Examples+1)
}
