// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"fmt"
	"io"

	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/namespaces"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/internal/training"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/option"
)

// modelSource makes the models of a run, and saves the model of each pass.
type modelSource struct {
	cfg    *Config
	job    *job.Job
	tally  *tally.Tally
	base   training.Carried                  // sums of the loaded model
	create func(name string) (Output, error) // without the lease: any attempt saves the same bytes
	// fromZero reports whether the labels of classes have turned out to count from 0; nil:
	// labels are not classes.
	fromZero func() bool
}

var _ training.Models = (*modelSource)(nil)

// Header returns the header of a model.
func (m *modelSource) Header(resume bool) model.Header {
	if m.fromZero != nil && m.fromZero() { // otherwise a later test would count classes from 1
		m.cfg.OAA.Indexing = option.Some(0)
	}
	r, c := m.job.All.Range, m.cfg
	return model.Header{ID: c.Model.ID, MinLabel: r.Min, MaxLabel: r.Max, Bits: c.Features.Bits, NGrams: namespaces.PlainWords(c.Features.Namespaces.NGrams), Skips: namespaces.PlainWords(c.Features.Namespaces.Skips), Options: c.modelOptions(resume)}
}

// Resume returns the state that further training needs, except the regularisation that is due.
// vw writes these fields in gd.cc (save_load_online_state).
//
// They are sums over all ranks, so that every rank writes the same bytes. The fields on the
// progress table belong to one rank; with several ranks they are set as if a row had just been
// printed.
func (m *modelSource) Resume(initialT float32) *model.Resume {
	all, table := &m.job.All, m.tally.Console.Table
	st := &all.Stats
	r := &model.Resume{
		InitialT:             initialT,
		NormNormalizer:       m.base.Nsx + all.Nsx,
		T:                    max(m.base.T, float64(initialT)) + st.T,
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
		TotalWeight:          m.base.TotalWeight + all.TotalWeight,
		OldWeightedLabeled:   st.Labeled,
		CurrentPass:          uint64(m.tally.Passes),
	}
	if m.job.Total == 1 || m.job.Group.Stream() {
		r.SumLossSinceLastDump = st.Loss - table.Loss
		r.DumpInterval = float32(table.Next)
		r.OldWeightedLabeled = table.Labeled
	}
	return r
}

// SavePass implements --save_per_pass. It writes the model of the pass that has just ended
// beside the final one, as FILE.1, FILE.2 and so on.
func (m *modelSource) SavePass(made func() *model.Regressor) error {
	c := m.cfg
	if !c.Model.SavePerPass || c.Model.Final == "" && c.Cluster.Join != nil {
		return nil // another rank writes it
	}
	name := fmt.Sprintf("%s.%d", c.Model.Final, m.tally.Passes)
	out, err := m.create(name)
	if err != nil {
		return err
	}
	if _, err := commit(out, made(), model.WriteDigest); err != nil {
		return errors.Join(fmt.Errorf("cannot save the model of pass %d: %w", m.tally.Passes, err), out.Abort())
	}
	return nil
}

// commit writes a model, gives the file its final name and returns the digest.
func commit(f Output, reg *model.Regressor, write func(io.Writer, *model.Regressor) (model.Digest, error)) ([32]byte, error) {
	digest, err := write(f, reg)
	if err != nil {
		return digest, err
	}
	return digest, f.Commit()
}
