// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"math"

	"github.com/gvw-project/gvw/feature"
)

// ClassWeight is the weight of a label.
type ClassWeight struct{ Label, Weight float32 }

// classWeights multiply the importance of the examples that are learned from (vw's
// --classweight).
type classWeights []ClassWeight

// Reweigh gives an example the weight of its class. The class is the label without its
// fraction, as in vw.
func (w classWeights) Reweigh(ex *feature.Example) {
	if !ex.Labeled() {
		return
	}
	label := float32(math.Trunc(float64(ex.Label)))
	for _, class := range w {
		if label == class.Label {
			ex.Weight *= class.Weight
			return
		}
	}
}

// SparedWeight returns the weight by which the loss of an example counts whose class has weight
// 0, and 0 for other examples. own is the example with the weight of its class. For such an
// example vw reports the loss of the prediction before learning.
func SparedWeight(ex, own *feature.Example) float32 {
	if own.Weight != 0 {
		return 0
	}
	return max(ex.Weight, 0)
}
