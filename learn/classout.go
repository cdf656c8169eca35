// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"slices"
	"strconv"

	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/optim/sgd"
)

// write writes the lines of -p and -r. scores are probabilities where those are
// asked for.
func (m *chooser) write(tag []byte, scores []float32, best int, shown *classLabels) error {
	s := m.s
	if s.mute {
		return nil
	}
	if s.preds != nil {
		line := s.preds.buf[:0]
		if s.cfg.OAA.Probabilities || s.cfg.OAA.Scores {
			line = shown.append(line, scores)
		} else {
			line = append(line, shown.text(best)...)
		}
		if err := s.preds.addLine(line, tag); err != nil {
			return err
		}
	}
	if s.raw == nil || s.cfg.OAA.Probabilities || s.cfg.OAA.Scores { // the file stays empty, as vw's
		return nil
	}
	numbered := *shown
	numbered.names = nil // as in vw
	return s.raw.addLine(numbered.append(append(s.raw.buf[:0], ' '), scores), tag)
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
	if s.cfg.TestOnly && (!s.cfg.keeps() || s.cfg.FTRL.Rule != ftrl.None) {
		rule, s.cfg.Model.PredictOnly = forTesting(rule), true
	}
	learners, err := sgd.NewClasses(rule, s.loss, s.cfg.OAA.Classes)
	if err != nil {
		return nil, err
	}
	whole := learners.Whole
	chooser := s.chooser(learners.Learner, whole)
	if err := chooser.subsample(); err != nil { // vw draws the classes before the weights
		return nil, err
	}
	s.cfg.startWeights(whole.Weights(), whole.Stride(), rule)
	if r.initial != nil {
		if err := r.initial.intoLearner(whole, s, rule); err != nil {
			return nil, err
		}
		r.initial.intoSums(learners.Sums())
	}
	s.cfg.startStates(whole)
	if err := s.openTable(); err != nil {
		return nil, err
	}
	m := &classes{
		online:   online{s: s, learner: whole, rule: rule, passes: s.cfg.Passes, kept: new(keptTables)},
		learners: learners,
		chooser:  chooser,
		base:     slices.Clone(learners.Sums()),
		all:      make([]sgd.ClassSums, s.cfg.OAA.Classes),
	}
	m.also = m.shareSums
	m.made = func() trained { return m.model(rule) }
	m.judge, m.use = chooser.judge, learners.Use
	return m, nil
}

// finish ends training with its model.
func (m *classes) finish(r *runner) error {
	r.logLoss = m.chooser.logLoss(m.total)
	return m.online.finish(r)
}

// keepFirst lets the model say that labels count from 0, or its predictions would count
// from 1.
func (m *chooser) keepFirst() {
	if m.labels.first == 0 {
		m.s.cfg.OAA.Indexing.Value, m.s.cfg.OAA.Indexing.Set = 0, true
	}
}

// model is the model as it is.
func (m *classes) model(rule sgd.Config) trained {
	s := m.s
	m.chooser.keepFirst()
	t := onlineModel(s, m.learner, rule)
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
