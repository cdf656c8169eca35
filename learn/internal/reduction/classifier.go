// SPDX-License-Identifier: Apache-2.0

package reduction

import "github.com/gvw-project/gvw/feature"

// Classifier is a learner of labels other than simple ones. It is for one goroutine.
//
// Classes count from 0, whatever the data has. The caller maps labels to classes, and writes
// predictions as vw does for the kind of labels.
type Classifier interface {
	// PredictClass predicts an example.
	PredictClass(b *feature.Batch, ex *feature.Example, y *Target) Choice
	// LearnClass predicts an example that has a label, and learns from it. Its weight may be 0.
	LearnClass(b *feature.Batch, ex *feature.Example, y *Target) Choice
}

// Target is the label of an example.
type Target struct {
	Class int            // of feature.ClassLabels; -1: none
	Costs []feature.Cost // classes of feature.CostLabels and feature.MultiLabels, in the order of the text
}

// Choice is the prediction of a Classifier. Its slices are the classifier's, until the next call.
type Choice struct {
	Class   int       // of feature.ClassLabels and feature.CostLabels
	Classes []int     // of feature.MultiLabels, ascending
	Scores  []float32 // raw, of each of Target.Costs, for feature.CostLabels
	Raw     float32   // a raw score; infinite or NaN if one of them is
	Loss    float32   // before the weight; 0 for an example without a label
	Weight  float32   // with which the example counts
}

// LinksClasses is the Excludes of a classifier whose scores may have a logistic link.
func LinksClasses(s Setting) string {
	if s.Link != "identity" && s.Link != "logistic" {
		return "its predictions are classes: leave learn.Config.Loss.Link out, or give logistic"
	}
	return ""
}

// Wild returns a raw score for Choice.Raw: v, or x if that is no finite number.
func Wild(x, v float32) float32 {
	if x-x != 0 {
		return x
	}
	return v
}

// Follow widens the range of predictions to a label that is about to be learned, unless it is fixed.
func (e *Env) Follow(label float32) {
	if !e.Fixed {
		e.Base.Whole.Range = e.Base.Whole.Range.Include(label)
	}
}
