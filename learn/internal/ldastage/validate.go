// SPDX-License-Identifier: Apache-2.0

package ldastage

import (
	"context"
	"slices"

	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/model/topics"
)

// validate measures how well the topics at the end of a pass predict the validation set. As in gvw
// topics without a vocabulary, all words of the model count.
func (m *Stage) validate(ctx context.Context) error {
	w, alphas := m.learner.Weights(), slices.Clone(m.learner.Alphas())
	if m.keeps() {
		w = m.results
	}
	if m.Job.Total > 1 && m.sums[0] > 0 {
		m.averaged(alphas)
	}
	h := m.Models.Header(true)
	h.LDA = uint32(m.learner.Config().Topics)
	t, err := topics.New(&model.Topics{Header: h, Weights: w}, nil)
	if err != nil {
		return &examples.DataError{Name: m.Read.Name, Text: err.Error()}
	}
	return m.Tally.ValidateDocuments(ctx, t.NewCompletion(alphas).Of)
}
