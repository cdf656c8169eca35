// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"fmt"

	"github.com/gvw-project/gvw/loss"
)

// OddLabels warns once about a label that the loss function accepts, as in vw, but that the
// user hardly meant: a label outside the range of the loss, or 0 for the logistic loss with
// classes -1 and 1.
type OddLabels struct {
	Want  loss.Range
	Half  float32 // label halfway between the classes; NaN: no warning about it
	Warns bool    // there is a range, and no odd label has occurred
}

// fits reports whether a label needs no warning.
func (o *OddLabels) fits(y float32) bool { return y >= o.Want.Min && y <= o.Want.Max && y != o.Half }

// warning returns the warning about an odd label, and disables further ones.
func (o *OddLabels) warning(y float32, l loss.Loss) string {
	o.Warns = false
	if y == o.Half {
		return "label 0 counts as half an example of each class with the logistic loss, whose classes are -1 and 1: if yours are 0 and 1, give learn.Config.Loss.LogisticMin=0 (further ones are not shown)"
	}
	return fmt.Sprintf("label %g is not in the range from %g to %g that the %s loss expects (further ones are not shown)",
		y, o.Want.Min, o.Want.Max, l.Name())
}
