// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"slices"
	"strconv"

	"github.com/gvw-project/gvw/internal/merand"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/optim/sgd"
)

// write writes the lines of -p and -r. scores are probabilities where those are
// asked for.
func (m *classes) write(tag []byte, scores []float32, best int, shown *classLabels) error {
	s := m.s
	if s.mute {
		return nil
	}
	if s.preds != nil {
		line := s.preds.buf[:0]
		if s.cfg.Probabilities || s.cfg.Scores {
			line = shown.append(line, scores)
		} else {
			line = append(line, shown.text(best)...)
		}
		if err := s.preds.addLine(line, tag); err != nil {
			return err
		}
	}
	if s.raw == nil || s.cfg.Probabilities || s.cfg.Scores { // the file stays empty, as vw's
		return nil
	}
	return s.raw.addLine(shown.append(append(s.raw.buf[:0], ' '), scores), tag)
}

// append appends class:score for each class, six significant digits each.
func (l *classLabels) append(dst []byte, scores []float32) []byte {
	for i, v := range scores {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(append(dst, l.text(i)...), ':')
		dst = strconv.AppendFloat(dst, float64(v), 'g', 6, 64)
	}
	return dst
}

// classes is training one against all, or testing it.
func (r *runner) classes() (*classes, error) {
	s := r.session
	rule := r.rule
	rule.FixedRange = s.fixed // labels are -1 and 1, as the learners see them
	if s.cfg.TestOnly && (!s.cfg.keeps() || s.cfg.FTRL != ftrl.None) {
		rule, s.cfg.PredictOnly = forTesting(rule), true
	}
	learner, err := sgd.NewClasses(rule, s.loss, s.cfg.OAA)
	if err != nil {
		return nil, err
	}
	s.cfg.startWeights(learner.Weights(), learner.Stride(), rule)
	if n := s.cfg.OAASubsample; n > 0 {
		var state merand.State
		if state, err = learner.Subsample(n, s.cfg.Start.Seed); err != nil {
			return nil, err
		}
		s.cfg.Start.Seed = state
	}
	if r.initial != nil {
		if err := r.initial.intoLearner(learner.Learner, s, rule); err != nil {
			return nil, err
		}
		r.initial.intoSums(learner.Sums())
	}
	s.cfg.startStates(learner.Learner)
	if err := s.openTable(); err != nil {
		return nil, err
	}
	m := &classes{
		online:  online{s: s, learner: learner.Learner, rule: rule, passes: s.cfg.Passes, kept: new(keptTables)},
		learner: learner,
		labels:  newClassLabels(&s.cfg),
		base:    slices.Clone(learner.Sums()),
		all:     make([]sgd.ClassSums, s.cfg.OAA),
	}
	m.also = m.shareSums
	m.made = func() trained { return m.model(rule) }
	m.judge, m.use = m.judgeClass, learner.Use
	return m, nil
}

// finish ends training with its model.
func (m *classes) finish(r *runner) error {
	r.logLoss = m.logLoss()
	return m.online.finish(r)
}

// model is the model as it is.
func (m *classes) model(rule sgd.Config) trained {
	s := m.s
	if m.labels.first == 0 { // a model must say so, or its predictions count from 1
		s.cfg.Indexing, s.cfg.IndexingSet = 0, true
	}
	t := onlineModel(s, m.learner.Learner, rule)
	if res := t.reg.Resume; res != nil {
		for i, b := range m.base {
			res.Models = append(res.Models, model.ModelSums{
				NormNormalizer: b.Nsx + m.all[i].Nsx, TotalWeight: b.TotalWeight + m.all[i].TotalWeight,
			})
		}
		res.NormNormalizer, res.TotalWeight = res.Models[0].NormNormalizer, res.Models[0].TotalWeight
	}
	return t
}

// intoSums gives each class the sums that a model kept of it: of a model without
// --per_model_save_load, which has those of the first class only, those.
func (in *initial) intoSums(sums []sgd.ClassSums) {
	r := in.dec.Resume
	if r == nil {
		return
	}
	for i := range sums {
		sums[i] = sgd.ClassSums{Nsx: r.NormNormalizer, TotalWeight: r.TotalWeight}
		if i < len(r.Models) {
			sums[i] = sgd.ClassSums{Nsx: r.Models[i].NormNormalizer, TotalWeight: r.Models[i].TotalWeight}
		}
	}
}
