// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"fmt"
	"math"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/output"
)

// wild reports whether v is infinite or not a number.
func wild(v float32) bool { return math.Float32bits(v)&0x7f800000 == 0x7f800000 }

// astray reports whether training has diverged at an example: its prediction is no
// finite number, or its loss is infinite. A loss that is no number is none of
// it: a label makes it that the loss function is not for.
func astray(raw, l float32) bool { return wild(raw) || wild(l) && l == l }

// wrong says what is wrong with an example that is astray.
func wrong(ex *feature.Example, raw, l float32) string {
	if wild(raw) {
		return fmt.Sprintf("the prediction is %v", raw)
	}
	return fmt.Sprintf("the loss of prediction %v for label %v is %v", raw, ex.Label, l)
}

// diverged is the error of an example that is astray, with the weight that led
// there, the weight of each feature being where place says. pass counts from 1. It is nil if the
// example's own values are not finite: those are no fault of the training, and
// change nothing.
func diverged(r *examples.Reader, pass int, b *feature.Batch, ex *feature.Example, what string, learner output.Weighted, place func(uint32) uint32) error {
	weights, stride := learner.Weights(), learner.Stride()
	worst, most := -1, float32(-1)
	for _, f := range b.FeaturesOf(ex) {
		at := int(place(f.Index))
		w := weights[at*stride]
		size := float32(math.Abs(float64(w)))
		if wild(f.Value) {
			return nil
		}
		if wild(w) {
			size = math.MaxFloat32
		}
		if size > most {
			worst, most = at, size
		}
	}
	if wild(ex.Initial) {
		return nil
	}
	tag := ""
	if t := b.TagOf(ex); len(t) > 0 {
		tag = fmt.Sprintf(" (tag %s)", t)
	}
	weight := ""
	if worst >= 0 {
		weight = fmt.Sprintf("; its largest weight is number %d, %v", worst, weights[worst*stride])
	}
	which := fmt.Sprintf("example %d", r.Nth)
	if r.Shuffled {
		which = "an example" // whose number is not kept
	}
	return &examples.DataError{Name: r.Name, Text: fmt.Sprintf(
		"pass %d, %s%s: %s%s: the training diverged: give a lower learn.Config.SGD.LearningRate, or look for labels and values out of range",
		pass, which, tag, what, weight)}
}
