// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"fmt"
	"math"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/fmath"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/oaa"
)

// Chooser predicts the class of examples and learns from them, whatever the rule of the
// learners is, and books what it has predicted.
type Chooser struct {
	read  *examples.Reader
	tally *tally.Tally
	audit *output.Audit // nil: nobody looks

	learner *oaa.Learner
	table   output.Weighted // of all classes
	labels  ClassLabels
	ChooserConfig

	sums  classLoss // of this rank
	probs []float32 // of the example at hand
}

// ChooserConfig is what is predicted.
type ChooserConfig struct {
	Probabilities bool // predictions are the probabilities of all classes
	Scores        bool // predictions are the scores of all classes
	Linked        bool // scores are shown through the link
	Sampled       bool // not all classes learn from an example that is not theirs
}

// NewChooser returns a chooser with the learners of a table.
func NewChooser(c *OnlineConfig, what ChooserConfig, learner *oaa.Learner, table output.Weighted, labels ClassLabels) *Chooser {
	learner.Fixed = c.Tally.Fixed // labels are -1 and 1, as the learners see them
	return &Chooser{
		read: c.Read, tally: c.Tally, audit: c.Audit, learner: learner, table: table, labels: labels, ChooserConfig: what,
	}
}

// FromZero reports whether labels count from 0.
func (m *Chooser) FromZero() bool { return m.labels.First == 0 }

// classLoss sums the log-losses of --probabilities.
type classLoss struct{ trained, held float64 }

// noClass is the log-loss of an example whose class had no probability at all,
// whatever its weight, as vw has it.
const noClass = 999

// watch shows the example at hand as one of the FTRL family's classes is about to learn
// from it, which vw does besides showing the predictions of all classes.
func (m *Chooser) watch(class int, score float32) {
	_ = m.audit.Class(m.learner, m.table, class, score) // flush returns the error, too
}

// process predicts an example and learns from it, and books the prediction.
func (m *Chooser) process(b *feature.Batch, ex *feature.Example, held bool) error {
	t := m.tally
	learns := t.Learns(held)
	t.Calls.Count(ex, learns)
	if ex.Weight < 0 { // vw counts it as 0 here, and below 0 where labels are simple
		none := *ex
		none.Weight = 0
		ex = &none
	}
	m.learner.Range = t.Seen
	fs := b.FeaturesOf(ex)
	if err := m.audit.Classes(b, ex, m.learner, m.table); err != nil {
		return err
	}
	shown := m.labels
	var scores []float32
	if learns && ex.Labeled() {
		if err := m.labels.decide(ex.Label, t.Stats.Examples); err != nil {
			return err
		}
		if m.Probabilities || m.Scores {
			shown = m.labels // vw numbers scores after the decision, and a class before it
		}
		right := m.labels.class(ex.Label)
		if m.Sampled {
			scores = m.learner.LearnSample(fs, ex, right)
		} else {
			scores = m.learner.Learn(fs, ex, right)
		}
		if k := m.learner.Wild(); k >= 0 {
			what := fmt.Sprintf("the score of class %s is no finite number", m.labels.text(k))
			if err := diverged(m.read, t.Passes+1, b, ex, what, m.table, func(i uint32) uint32 { return m.learner.Place(i, k) }); err != nil {
				return err
			}
		}
		t.Seen = m.learner.Range
	} else {
		scores = m.learner.Predict(fs, ex.Initial)
	}
	if m.Linked { // not of probabilities
		for i, v := range scores {
			scores[i] = t.Link.Apply(v)
		}
	}
	return m.account(b, ex, held, scores, &shown)
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
func (m *Chooser) account(b *feature.Batch, ex *feature.Example, held bool, scores []float32, shown *ClassLabels) error {
	t := m.tally
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
	t.Stats.Add(&counted, held, l, features)
	if m.Probabilities {
		m.probs = probabilities(m.probs[:0], scores)
		scores = m.probs
		m.addLogLoss(ex, held, right)
	}
	if t.Measures.Counts(ex, held) {
		t.Measures.Own.AddChoice(m.choice(scores, right, ex.Weight))
	}
	if err := m.write(b.TagOf(ex), scores, best, shown); err != nil {
		return err
	}
	table := t.Console.Table
	if !table.Due(&t.Stats) {
		return nil
	}
	prediction := shown.text(best)
	if m.Probabilities {
		prediction = fmt.Sprintf("%s(%.0f%%)", prediction, scores[best]*100)
	}
	return table.Print(&t.Stats, t.ShowsHoldout(), shown.label(ex.Label), prediction, features)
}

// choice is how right the highest of the scores is, which are probabilities
// where those are asked for.
func (m *Chooser) choice(scores []float32, right int, weight float32) metric.Choice {
	best := highest(scores)
	c := metric.Choice{Weight: weight, Score: scores[best], Right: best == right, Probability: float32(math.NaN())}
	if m.Probabilities {
		c.Probability = 0 // of a label that is no class's
		if right >= 0 && right < len(scores) {
			c.Probability = scores[right]
		}
	}
	return c
}

// judge judges by the class that is chosen: the loss is that of the holdout.
func (m *Chooser) judge(sums *metric.Sums, fs []feature.Feature, ex *feature.Example, r loss.Range) float32 {
	m.learner.Range = r
	scores := m.learner.Predict(fs, ex.Initial)
	if m.Probabilities {
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
func (m *Chooser) addLogLoss(ex *feature.Example, held bool, right int) {
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

// logLoss is the mean of vw's summary, of the sums over all ranks; NaN where it is not kept.
func (m *Chooser) logLoss(total classLoss) float64 {
	all := &m.tally.Job.All.Stats
	switch {
	case !m.Probabilities:
		return math.NaN()
	case m.tally.Holdout:
		return total.held / all.Holdout.Weight
	}
	return total.trained / all.Labeled
}
