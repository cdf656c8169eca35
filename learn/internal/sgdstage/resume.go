// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/model"
)

// codeResume codes the resume state of the best pass's model: the counters and sums of vw's
// save_load_online_state (gd.cc).
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
	if c.Number("models", &n, maxModels); c.Reading() && len(c.Bytes()) < 16*n {
		c.Fail("models: got %d, there are bytes for fewer", n)
	} else if c.Reading() && c.Err() == nil && n > 0 {
		r.Models = make([]model.ModelSums, n)
	}
	for i := range r.Models {
		c.F64("sums of a model", &r.Models[i].NormNormalizer)
		c.F64("sums of a model", &r.Models[i].TotalWeight)
	}
}

// maxModels is the limit for the number of classes. The reader allocates only as many as there
// are bytes for.
const maxModels = 1 << 32
