// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/fmath"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/sgd"
)

// classes is the machine of one against all: passes as online's, whose examples
// teach the learners of all classes in one table. Weights are averaged as
// online's; what each class keeps besides is added up over the ranks.
type classes struct {
	online
	learner *sgd.Classes
	labels  classLabels

	base   []sgd.ClassSums // of the loaded model
	all    []sgd.ClassSums // of the job so far, without base
	sums   classLoss
	total  classLoss // over all ranks
	gone   goneSums  // of lost ranks
	probs  []float32 // of the example at hand
	vector []float64 // what ranks add up
}

// classLoss sums the log-losses of --probabilities.
type classLoss struct{ trained, held float64 }

// noClass is the log-loss of an example whose class had no probability at all,
// whatever its weight, as vw has it.
const noClass = 999

// Work predicts every example of the shard, and learns from it.
func (m *classes) Work(ctx context.Context) error {
	s := m.s
	m.guard()
	defer m.end()
	return s.pass(ctx, func(b *feature.Batch, ex *feature.Example, held bool) error {
		if ex.Weight < 0 { // vw counts it as 0 here, and below 0 where labels are simple
			none := *ex
			none.Weight = 0
			ex = &none
		}
		m.learner.Range = s.seen
		fs := b.FeaturesOf(ex)
		if err := s.audit.classes(b, ex, m.learner); err != nil {
			return err
		}
		shown := m.labels
		var scores []float32
		if s.learns(held) && ex.Labeled() {
			if err := m.labels.decide(s, ex.Label); err != nil {
				return err
			}
			if s.cfg.Probabilities || s.cfg.Scores {
				shown = m.labels // vw numbers scores after the decision, and a class before it
			}
			right := m.labels.class(ex.Label)
			if s.cfg.OAASubsample > 0 {
				scores = m.learner.LearnSample(fs, ex, right)
			} else {
				scores = m.learner.Learn(fs, ex, right)
			}
			if k := m.learner.Wild(); k >= 0 {
				what := fmt.Sprintf("the score of class %s is no finite number", m.labels.text(k))
				if err := s.diverged(b, ex, what, m.learner, func(i uint32) uint32 { return m.learner.Place(i, k) }); err != nil {
					return err
				}
			}
			s.seen = m.learner.Range
		} else {
			scores = m.learner.Predict(fs, ex.Initial)
		}
		if s.cfg.Link != "identity" { // of a test, and not of probabilities
			for i, v := range scores {
				scores[i] = s.link.Apply(v)
			}
		}
		return m.account(b, ex, held, scores, &shown)
	})
}

// goneSums are what lost ranks have added to the job's sums; without any, nothing.
type goneSums struct {
	classes []sgd.ClassSums
	loss    classLoss
}

// shared is what all ranks have alike.
func (m *classes) shared(c *coder) {
	m.online.shared(c)
	m.outcome(c)
	gone := m.gone.classes != nil
	if c.flag("sums of lost ranks", &gone); !gone {
		return
	}
	if c.reading {
		m.gone.classes = make([]sgd.ClassSums, len(m.all))
	}
	codeSums(c, m.gone.classes, &m.gone.loss)
}

// own is what this rank alone has. The sums come first, so that others can tell
// them when it is lost.
func (m *classes) own(c *coder) {
	codeSums(c, m.learner.Sums(), &m.sums)
	m.online.own(c)
	turn := m.learner.Turn()
	if c.number("class whose turn it is", &turn, m.s.cfg.OAA-1); c.reading && c.err == nil {
		c.err = m.learner.SetTurn(turn)
	}
	c.number("label of the first class", &m.labels.first, 1)
	c.flag("first label known", &m.labels.decided)
	c.flag("warned of labels outside", &m.labels.warned)
}

// outcome are the sums of the classes over all ranks.
func (m *classes) outcome(c *coder) { codeSums(c, m.all, &m.total) }

func codeSums(c *coder, sums []sgd.ClassSums, l *classLoss) {
	for i := range sums {
		c.f64("sums of a class", &sums[i].Nsx)
		c.f64("sums of a class", &sums[i].TotalWeight)
	}
	c.f64("log-loss", &l.trained)
	c.f64("log-loss held out", &l.held)
}

// shrink also keeps what the lost ranks have added to the sums of the job.
func (m *classes) shrink() (void bool, err error) {
	gone := goneSums{classes: make([]sgd.ClassSums, len(m.all))}
	sums, l := make([]sgd.ClassSums, len(m.all)), classLoss{}
	for _, lost := range m.s.lost {
		var r record
		rest, err := r.decode(lost.rank, lost.record)
		if err != nil {
			return false, err
		}
		var t table
		d := coder{b: rest, reading: true}
		t.code(&d)
		for range 2 { // the warning of labels, the phase
			var skip uint64
			d.u64("record", &skip)
		}
		if codeSums(&d, sums, &l); d.err != nil {
			return false, d.err
		}
		for i, sum := range sums {
			gone.classes[i].Nsx += sum.Nsx - m.base[i].Nsx
			gone.classes[i].TotalWeight += sum.TotalWeight - m.base[i].TotalWeight
		}
		gone.loss.trained += l.trained
		gone.loss.held += l.held
	}
	m.gone = gone
	return m.online.shrink()
}

// highest is the class with the highest score, the first of several.
func highest(scores []float32) int {
	best := 0
	for i, v := range scores {
		if v > scores[best] {
			best = i
		}
	}
	return best
}

// account books one example.
func (m *classes) account(b *feature.Batch, ex *feature.Example, held bool, scores []float32, shown *classLabels) error {
	s := m.s
	best, right := highest(scores), shown.class(ex.Label)
	l := float32(0)
	counted := *ex
	if ex.Labeled() {
		counted.Label = 0 // numbers of classes are not summed
		if best != right {
			l = ex.Weight
		}
	}
	features := ex.Count()
	s.stats.add(&counted, held, l, features)
	if s.cfg.Probabilities {
		m.probs = probabilities(m.probs[:0], scores)
		scores = m.probs
		m.addLogLoss(ex, held, right)
	}
	if s.measures.counts(s, ex, held) {
		s.measures.own.AddChoice(m.choice(scores, right, ex.Weight))
	}
	if err := m.write(b.TagOf(ex), scores, best, shown); err != nil {
		return err
	}
	if !s.table.due(&s.stats) {
		return nil
	}
	prediction := shown.text(best)
	if s.cfg.Probabilities {
		prediction = fmt.Sprintf("%s(%.0f%%)", prediction, scores[best]*100)
	}
	return s.table.print(&s.stats, s.holdout.on && s.passes > 0, shown.label(ex.Label), prediction, features)
}

// choice is how right the highest of the scores is, which are probabilities
// where those are asked for.
func (m *classes) choice(scores []float32, right int, weight float32) metric.Choice {
	best := highest(scores)
	c := metric.Choice{Weight: weight, Score: scores[best], Right: best == right, Probability: float32(math.NaN())}
	if m.s.cfg.Probabilities {
		c.Probability = 0 // of a label that is no class's
		if right >= 0 && right < len(scores) {
			c.Probability = scores[right]
		}
	}
	return c
}

// judgeClass judges by the class that is chosen: the loss is that of the holdout.
func (m *classes) judgeClass(sums *metric.Sums, fs []feature.Feature, ex *feature.Example, r loss.Range) float32 {
	m.learner.Range = r
	scores := m.learner.Predict(fs, ex.Initial)
	if m.s.cfg.Probabilities {
		m.probs = probabilities(m.probs[:0], scores)
		scores = m.probs
	}
	c := m.choice(scores, m.labels.class(ex.Label), ex.Weight)
	sums.AddChoice(c)
	if c.Right {
		return 0
	}
	return ex.Weight
}

// addLogLoss adds the example's to the sums.
func (m *classes) addLogLoss(ex *feature.Example, held bool, right int) {
	if !ex.Labeled() {
		return
	}
	l := float32(noClass)
	if right >= 0 && right < len(m.probs) && m.probs[right] > 0 {
		l = -fmath.Log32(m.probs[right]) * ex.Weight
	}
	if held {
		m.sums.held += float64(l)
	} else {
		m.sums.trained += float64(l)
	}
}

// probabilities appends the share that each score's sigmoid has in their sum.
func probabilities(dst, scores []float32) []float32 {
	sum := float32(0)
	for _, v := range scores {
		p := 1 / (1 + fmath.Exp32(-v))
		sum += p
		dst = append(dst, p)
	}
	for i := range dst {
		dst[i] /= sum
	}
	return dst
}

// shareSums adds up what the classes keep and the log-losses over all ranks: a
// collective of the step's exchange, before the records.
func (m *classes) shareSums(ctx context.Context, g *allreduce.Group) error {
	v := m.vector[:0]
	for i, s := range m.learner.Sums() {
		v = append(v, s.Nsx-m.base[i].Nsx, s.TotalWeight-m.base[i].TotalWeight)
	}
	v = append(v, m.sums.trained, m.sums.held)
	m.vector = v
	if m.s.total > 1 && !g.Stream() { // vw has no such call
		if err := g.AllReduce(ctx, allreduce.Vec(v).Named("sums of the classes"), allreduce.Sum); err != nil {
			return err
		}
	}
	for i := range m.all {
		m.all[i] = sgd.ClassSums{Nsx: v[2*i], TotalWeight: v[2*i+1]}
	}
	m.total = classLoss{v[2*len(m.all)], v[2*len(m.all)+1]}
	for i, sum := range m.gone.classes {
		m.all[i].Nsx += sum.Nsx
		m.all[i].TotalWeight += sum.TotalWeight
	}
	m.total.trained += m.gone.loss.trained
	m.total.held += m.gone.loss.held
	return nil
}

// logLoss is the mean of vw's summary; NaN where it is not kept.
func (m *classes) logLoss() float64 {
	s := m.s
	switch {
	case !s.cfg.Probabilities:
		return math.NaN()
	case s.holdout.on:
		return m.total.held / s.all.Stats.Holdout.Weight
	}
	return m.total.trained / s.all.Stats.Labeled
}
