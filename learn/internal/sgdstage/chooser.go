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

// Chooser predicts the class of examples and learns from them, with learners of any rule, and
// books its predictions. It follows vw's oaa.cc.
type Chooser struct {
	read  *examples.Reader
	tally *tally.Tally
	audit *output.Audit // nil: no audit

	learner *oaa.Learner
	table   output.Weighted // the weights of all classes
	labels  ClassLabels     // as decided so far
	ChooserConfig

	sums  classLoss // of this rank in this run
	probs []float32 // of the current example, reused
}

// ChooserConfig selects what is predicted and which classes learn.
type ChooserConfig struct {
	Probabilities bool // predictions are the probabilities of all classes
	Scores        bool // predictions are the scores of all classes
	Linked        bool // scores are shown through the link
	Sampled       bool // only some of the other classes learn from an example (--oaa_subsample)
}

// NewChooser returns a chooser with learners whose weights lie in table.
func NewChooser(c *OnlineConfig, what ChooserConfig, learner *oaa.Learner, table output.Weighted, labels ClassLabels) *Chooser {
	learner.Fixed = c.Tally.Fixed // the learners see -1 and 1 instead of the labels of the data
	return &Chooser{
		read: c.Read, tally: c.Tally, audit: c.Audit, learner: learner, table: table, labels: labels, ChooserConfig: what,
	}
}

// FromZero reports whether labels count from 0. The data may decide that during the first pass.
func (m *Chooser) FromZero() bool { return m.labels.First == 0 }

// classLoss has the sums of the log-loss of --probabilities, each weighted by importance.
type classLoss [2]float64

// The examples of each sum of a classLoss.
const (
	lossTrained = iota // learned from
	lossHeld           // held out
)

// noClass is the log-loss of an example whose class has no probability. vw's oaa.cc uses 999
// for -log 0, whatever the weight of the example.
const noClass = 999

// watch shows the current example before the learner of one class changes. With the FTRL family
// vw shows it once more for each class, besides the predictions of all classes.
func (m *Chooser) watch(class int, score float32) {
	_ = m.audit.Class(m.learner, m.table, class, score) // Flush returns the error, too
}

// process predicts an example, learns from it unless it is held out, and books the prediction.
func (m *Chooser) process(b *feature.Batch, ex *feature.Example, held bool) error {
	t := m.tally
	learns := t.Learns(held)
	t.Calls.Count(ex, learns)
	// The caller owns the example, so process changes a copy.
	if ex.Weight < 0 { // vw's multiclass labels count it as 0; its simple labels keep the sign
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
			shown = m.labels // vw numbers scores after this decision, but a single class before it
		}
		right := m.labels.class(ex.Label)
		if m.Sampled {
			scores = m.learner.LearnSample(fs, ex, right)
		} else {
			scores = m.learner.Learn(fs, ex, right)
		}
		// Wild returns the first class whose score has diverged. The error names the weight of
		// that class.
		if k := m.learner.Wild(); k >= 0 {
			what := fmt.Sprintf("the score of class %s is no finite number", m.labels.text(k))
			if err := diverged(m.read, t.Passes+1, b, ex, what, m.table, func(i uint32) uint32 { return m.learner.Place(i, k) }, 1); err != nil {
				return err
			}
		}
		t.Seen = m.learner.Range
	} else {
		scores = m.learner.Predict(fs, ex.Initial)
	}
	if m.Linked { // scores only; --probabilities excludes a link
		for i, v := range scores {
			scores[i] = t.Link.Apply(v)
		}
	}
	return m.account(b, ex, held, scores, &shown)
}

// highest returns the class with the highest score. The lowest class wins a tie, as in vw.
func highest(scores []float32) int {
	best := 0
	for i, v := range scores {
		if v > scores[best] {
			best = i
		}
	}
	return best
}

// account books one example in the sums, the measures, the files of predictions and the table.
// Its loss is its weight if the chosen class is wrong, as in vw.
func (m *Chooser) account(b *feature.Batch, ex *feature.Example, held bool, scores []float32, shown *ClassLabels) error {
	t := m.tally
	best, right := highest(scores), shown.class(ex.Label)
	l := float32(0)
	counted := *ex
	if ex.Labeled() {
		counted.Label = 0 // labels are names of classes, and vw does not sum them
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
	// Formatting takes time, so it waits until a row is due.
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

// choice returns the measured outcome of one example. right is the class of its label, or out
// of range if the label has no class. scores are probabilities if these are predicted.
func (m *Chooser) choice(scores []float32, right int, weight float32) metric.Choice {
	best := highest(scores)
	c := metric.Choice{Weight: weight, Score: scores[best], Right: best == right, Probability: float32(math.NaN())}
	if m.Probabilities {
		c.Probability = 0 // for a label that has no class
		if right >= 0 && right < len(scores) {
			c.Probability = scores[right]
		}
	}
	return c
}

// judge measures one example of the validation set by the class that is chosen. Its loss is
// that of the holdout set.
func (m *Chooser) judge(sums *metric.Sums, b *feature.Batch, ex *feature.Example, r loss.Range) float32 {
	m.learner.Range = r
	scores := m.learner.Predict(b.FeaturesOf(ex), ex.Initial)
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

// addLogLoss adds the log-loss of an example to the sums. right is the class of its label.
func (m *Chooser) addLogLoss(ex *feature.Example, held bool, right int) {
	if !ex.Labeled() {
		return
	}
	l := float32(noClass)
	if right >= 0 && right < len(m.probs) && m.probs[right] > 0 {
		l = -fmath.Log32(m.probs[right]) * ex.Weight
	}
	if held {
		m.sums[lossHeld] += float64(l)
	} else {
		m.sums[lossTrained] += float64(l)
	}
}

// probabilities appends the sigmoid of each score, divided by the sum of all sigmoids, as vw's
// oaa.cc does. It is not a softmax.
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

// logLoss returns the mean log-loss of vw's summary, from sums over all ranks. It is NaN
// without --probabilities.
func (m *Chooser) logLoss(total classLoss) float64 {
	all := &m.tally.Job.All.Stats
	switch {
	case !m.Probabilities:
		return math.NaN()
	case m.tally.Holdout:
		return total[lossHeld] / all.Holdout.Weight
	}
	return total[lossTrained] / all.Labeled
}
