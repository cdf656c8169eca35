// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"math"
)

// ShareHoldout makes vw's holdout call at the end of a pass (summarize_holdout_set), which sums
// the mean holdout losses of the ranks. vw sums where an average would be expected. All ranks
// of the job must see the same number, so that they stop at the same pass.
func (j *Job) ShareHoldout(ctx context.Context) error {
	h := &j.All.Stats.Holdout
	// vw's value for a rank that holds nothing out.
	mean := float32(math.MaxFloat32) * 0.5
	if h.PassWeight > 0 {
		mean = float32(h.PassLoss / h.PassWeight)
	}
	sum, err := j.Group.AccumulateScalar(ctx, "holdout loss", mean)
	if err != nil {
		return err
	}
	h.PassLoss, h.PassWeight = float64(sum), 1
	if sum >= math.MaxFloat32*0.5 {
		h.PassWeight = 0
	}
	return nil
}

// ShareStats makes vw's calls at the end of a job (sync_stats), which sum six scalars. The vw
// of the Python package leaves the job before these calls. Then every rank keeps its own
// numbers.
func (j *Job) ShareStats(ctx context.Context) error {
	st := &j.All.Stats
	names := []string{"sum of losses", "labeled examples", "sum of labels", "unlabeled examples", "number of examples", "number of features"}
	totals := []float32{float32(st.Loss), float32(st.Labeled), float32(st.Labels), float32(st.Unlabeled), float32(st.Examples), float32(st.Features)}
	complete, err := j.Group.AccumulateTotals(ctx, names, totals)
	switch {
	case err != nil:
		return err
	case !complete:
		j.Log.Info("a vw worker left after the last pass, without the job's totals: the summary shows this rank's")
		return nil
	}
	st.Loss, st.Labeled, st.Labels, st.Unlabeled = float64(totals[0]), float64(totals[1]), float64(totals[2]), float64(totals[3])
	st.Examples, st.Features = uint64(totals[4]), uint64(totals[5])
	return nil
}
