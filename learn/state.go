// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/model"
)

// maxCount bounds whatever is counted: passes, examples of a table.
const maxCount = 1 << 62

// Limits on what a state may claim to hold.
const (
	maxMeasures = 64
	maxName     = 64
	maxBins     = 1 << 10
)

// codeResult is the measures of a pass, if there are any.
func codeResult(c *snapshot.Coder, r **result) {
	there := *r != nil
	if c.Flag("measures", &there); !there {
		*r = nil
		return
	}
	if c.Reading {
		*r = &result{}
	}
	v := *r
	c.Number("pass of the measures", &v.Pass, maxCount)
	n := len(v.Values)
	if c.Number("number of measures", &n, maxMeasures); c.Reading {
		v.Values = make([]metric.Value, n)
	}
	for i := range v.Values {
		c.Text("name of a measure", &v.Values[i].Name, maxName)
		c.F64("measure", &v.Values[i].Value)
	}
	n = len(v.Curve)
	if c.Number("bins of the calibration", &n, maxBins); c.Reading && n > 0 {
		v.Curve = make([]metric.Bin, n)
	}
	for i := range v.Curve {
		b := &v.Curve[i]
		for _, x := range []*float64{&b.Above, &b.UpTo, &b.Weight, &b.Predicted, &b.Positive} {
			c.F64("calibration", x)
		}
	}
}

// codeResume is what a model keeps for training to go on.
func codeResume(c *snapshot.Coder, r *model.Resume) {
	for _, v := range []*float64{
		&r.NormNormalizer, &r.T, &r.SumLoss, &r.SumLossSinceLastDump, &r.WeightedLabeled, &r.WeightedLabels,
		&r.WeightedUnlabeled, &r.TotalWeight, &r.OldWeightedLabeled, &r.Gravity, &r.Contraction,
	} {
		c.F64("counters of the best model", v)
	}
	for _, v := range []*float32{&r.InitialT, &r.DumpInterval, &r.MinLabel, &r.MaxLabel} {
		c.F32("counters of the best model", v)
	}
	for _, v := range []*uint64{&r.ExampleNumber, &r.TotalFeatures, &r.CurrentPass} {
		c.U64("counters of the best model", v)
	}
	n := len(r.Models)
	if c.Number("models", &n, maxModels); c.Reading && len(c.B) < 16*n {
		c.Fail("models: got %d, there are bytes for fewer", n)
	} else if c.Reading && c.Err == nil && n > 0 {
		r.Models = make([]model.ModelSums, n)
	}
	for i := range r.Models {
		c.F64("sums of a model", &r.Models[i].NormNormalizer)
		c.F64("sums of a model", &r.Models[i].TotalWeight)
	}
}

// maxModels is how many classes there can be.
const maxModels = 1 << 32
