// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/model"
)

// savePass is --save_per_pass: it writes the model of the pass that has just ended
// beside the final one, as FILE.1, FILE.2 and so on.
func (s *session) savePass(made func() trained) error {
	if !s.cfg.Model.SavePerPass || s.cfg.Model.Final == "" && s.cfg.Cluster.Join != nil {
		return nil // another rank writes it
	}
	name := fmt.Sprintf("%s.%d", s.cfg.Model.Final, s.passes)
	out, err := s.create(name)
	if err != nil {
		return err
	}
	if _, err := commit(out, made().reg, model.WriteDigest); err != nil {
		return errors.Join(fmt.Errorf("cannot save the model of pass %d: %w", s.passes, err), out.Abort())
	}
	return nil
}

// preserve is --preserve_performance_counters: the sums, counters and table go on
// where the loaded model's run stopped.
func (s *session) preserve(r *model.Resume) {
	if !s.cfg.Model.PreserveCounters || s.cfg.TestOnly || r == nil {
		return
	}
	st := &s.stats
	st.Examples, st.Features = r.ExampleNumber, r.TotalFeatures
	st.Labeled, st.Unlabeled, st.Labels, st.Loss = r.WeightedLabeled, r.WeightedUnlabeled, r.WeightedLabels, r.SumLoss
	s.passes = int(r.CurrentPass)
	s.table.Loss, s.table.Labeled = r.SumLoss-r.SumLossSinceLastDump, r.OldWeightedLabeled
	if s.table.Next < float64(r.DumpInterval) {
		s.table.Next = float64(r.DumpInterval)
	}
}
