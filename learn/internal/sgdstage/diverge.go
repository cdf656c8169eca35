// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"fmt"
	"math"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/output"
)

// notFinite reports whether v is infinite or NaN. All exponent bits are set then.
func notFinite(v float32) bool { return math.Float32bits(v)&0x7f800000 == 0x7f800000 }

// hasDiverged reports whether training has diverged at an example: its prediction is infinite or
// NaN, or its loss is infinite. A loss of NaN does not count, since a label outside the domain
// of the loss function makes one.
func hasDiverged(raw, l float32) bool { return notFinite(raw) || notFinite(l) && l == l }

// divergence describes how training has diverged at an example.
func divergence(ex *feature.Example, raw, l float32) string {
	if notFinite(raw) {
		return fmt.Sprintf("the prediction is %v", raw)
	}
	return fmt.Sprintf("the loss of prediction %v for label %v is %v", raw, ex.Label, l)
}

// allFinite reports whether all values of an example are finite: its features and its initial prediction.
func allFinite(b *feature.Batch, ex *feature.Example) bool {
	for _, f := range b.FeaturesOf(ex) {
		if notFinite(f.Value) {
			return false
		}
	}
	return !notFinite(ex.Initial)
}

// diverged returns the error of an example at which training has diverged. It names the largest weight of the
// example's features, which usually caused the fault. pass counts from 1. place returns the
// index of a feature's first weight, and the n-1 after it are its others.
//
// The error is nil if the example itself has a value that is not finite. Such a value is no
// fault of the training, and changes no weight.
func diverged(r *examples.Reader, pass int, b *feature.Batch, ex *feature.Example, what string, learner output.Weighted, place func(uint32) uint32, n int) error {
	if !allFinite(b, ex) {
		return nil
	}
	weights, stride := learner.Weights(), learner.Stride()
	// A weight that is not finite exceeds all others.
	worst, most := -1, float32(-1)
	for _, f := range b.FeaturesOf(ex) {
		first := int(place(f.Index))
		for at := first; at < first+n; at++ {
			w := weights[at*stride]
			size := float32(math.Abs(float64(w)))
			if notFinite(w) {
				size = math.MaxFloat32
			}
			if size > most {
				worst, most = at, size
			}
		}
	}
	tag := ""
	if t := b.TagOf(ex); len(t) > 0 {
		tag = fmt.Sprintf(" (tag %s)", t)
	}
	weight := ""
	if worst >= 0 {
		weight = fmt.Sprintf("; its largest weight is number %d, %v", indexOf(learner, worst), weights[worst*stride])
	}
	which := fmt.Sprintf("example %d", r.Nth)
	if r.Shuffled {
		which = "an example" // shuffled examples have no number
	}
	return &examples.DataError{Name: r.Name, Text: fmt.Sprintf(
		"pass %d, %s%s: %s%s: the training diverged: give a lower learn.Config.SGD.LearningRate, or look for labels and values out of range",
		pass, which, tag, what, weight)}
}
