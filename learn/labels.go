// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"

	"github.com/gvw-project/gvw/loss"
)

// oddLabels warns once of a label that the loss function accepts, as vw does, and that
// the user has hardly meant: one outside the range of the loss, or 0 for the logistic loss
// with classes -1 and 1.
type oddLabels struct {
	want  loss.Range
	half  float32 // the label halfway between the classes; NaN: it is no cause for a warning
	first bool    // there is a range, and no odd label has been seen
}

func (o *oddLabels) fits(y float32) bool { return y >= o.want.Min && y <= o.want.Max && y != o.half }

// warning returns the warning of an odd label; it is the only one.
func (o *oddLabels) warning(y float32, l loss.Loss) string {
	o.first = false
	if y == o.half {
		return "label 0 counts as half an example of each class with the logistic loss, whose classes are -1 and 1: if yours are 0 and 1, give --logistic_min 0 (further ones are not shown)"
	}
	return fmt.Sprintf("label %g is not in the range from %g to %g that the %s loss expects (further ones are not shown)",
		y, o.want.Min, o.want.Max, l.Name())
}
