// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"math"

	"github.com/gvw-project/gvw/allreduce"
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
	j.Group.Leaving()
	st := &j.All.Stats
	examples, features := float64(st.Examples), float64(st.Features)
	scalars := []struct {
		name string
		x    *float64
	}{
		{"sum of losses", &st.Loss},
		{"labeled examples", &st.Labeled},
		{"sum of labels", &st.Labels},
		{"unlabeled examples", &st.Unlabeled},
		{"number of examples", &examples},
		{"number of features", &features},
	}
	local := *st
	for _, sc := range scalars {
		v, err := j.Group.AccumulateScalar(ctx, sc.name, float32(*sc.x))
		if errors.Is(err, allreduce.ErrLeft) {
			j.Log.Info("a vw worker left after the last pass, without the job's totals: the summary shows this rank's")
			j.All.Stats = local
			return nil
		}
		if err != nil {
			return err
		}
		*sc.x = float64(v)
	}
	st.Examples, st.Features = uint64(examples), uint64(features)
	return nil
}
