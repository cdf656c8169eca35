// SPDX-License-Identifier: Apache-2.0

package modelsource

import (
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/internal/training"
	"github.com/gvw-project/gvw/model"
)

// Source makes the models of a run, and saves the model of each pass.
type Source struct {
	Job   *job.Job
	Tally *tally.Tally
	Base  training.Carried // sums of the loaded model
	// InitialT is the --initial_t of a loaded model with resume state, which holds for models made from it, as in vw;
	// nil: there is none.
	InitialT *float32
	Create   func(name string) (output.File, error) // without the lease: any attempt saves the same bytes
	// Describe returns the header of a model, except the range of labels.
	Describe func(resume bool) model.Header
	// Name returns the name of the model of a pass, counted from 1; "": it is not saved.
	Name func(pass int) string
}

var _ training.Models = (*Source)(nil)

// Header returns the header of a model.
func (m *Source) Header(resume bool) model.Header {
	h := m.Describe(resume)
	h.MinLabel, h.MaxLabel = m.Job.All.Range.Min, m.Job.All.Range.Max
	return h
}

// Resume returns the state that further training needs, except the regularisation that is due.
// vw writes these fields in gd.cc (save_load_online_state).
//
// They are sums over all ranks, so that every rank writes the same bytes. The fields on the
// progress table belong to one rank; with several ranks they are set as if a row had just been
// printed.
func (m *Source) Resume(initialT float32) *model.Resume {
	if m.InitialT != nil {
		initialT = *m.InitialT
	}
	all, table := &m.Job.All, m.Tally.Console.Table
	st := &all.Stats
	r := &model.Resume{
		InitialT:             initialT,
		NormNormalizer:       m.Base.Nsx + all.Nsx,
		T:                    max(m.Base.T, float64(initialT)) + st.T,
		SumLoss:              st.Loss,
		SumLossSinceLastDump: 0,
		DumpInterval:         float32(2 * st.Weighted()),
		MinLabel:             all.Range.Min,
		MaxLabel:             all.Range.Max,
		WeightedLabeled:      st.Labeled,
		WeightedLabels:       st.Labels,
		WeightedUnlabeled:    st.Unlabeled,
		ExampleNumber:        st.Examples,
		TotalFeatures:        st.Features,
		TotalWeight:          m.Base.TotalWeight + all.TotalWeight,
		OldWeightedLabeled:   st.Labeled,
		CurrentPass:          uint64(m.Tally.Passes),
	}
	if m.Job.Total == 1 || m.Job.Group.Stream() {
		r.SumLossSinceLastDump = st.Loss - table.Loss
		r.DumpInterval = float32(table.Next)
		r.OldWeightedLabeled = table.Labeled
	}
	return r
}

// SavePass implements --save_per_pass. It writes the model of the pass that has just ended
// beside the final one, as FILE.1, FILE.2 and so on.
func (m *Source) SavePass(made func() *model.Regressor) error {
	name := m.Name(m.Tally.Passes)
	if name == "" {
		return nil
	}
	out, err := m.Create(name)
	if err != nil {
		return err
	}
	if _, err = model.WriteDigest(out, made()); err == nil {
		err = out.Commit()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("cannot save the model of pass %d: %w", m.Tally.Passes, err), out.Abort())
	}
	return nil
}
