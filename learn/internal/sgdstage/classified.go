// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"strconv"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/reduction"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/sgd"
)

// classified is the part of the stage Reduced that learns labels other than simple ones. It maps
// labels to classes, and books and writes predictions as vw does for the kind of labels.
type classified struct {
	m       *Reduced
	learner reduction.Classifier
	kind    feature.LabelKind
	labels  ClassLabels

	own        feature.Example // the example with the weight and the label with which it counts
	target     reduction.Target
	costs      []feature.Cost // of the target, reused
	shown      []byte         // label and prediction in the table, reused
	prediction []byte
}

// NewClassified returns the stage of a learner of labels other than simple ones. labels are its
// classes, as far as the options decide them.
func NewClassified(c OnlineConfig, slots *sgd.Slots, learner reduction.Classifier, kind feature.LabelKind, labels ClassLabels) *Reduced {
	m := newReduced(c, slots, learner)
	o := &classified{m: m, learner: learner, kind: kind, labels: labels}
	m.classes = o
	m.visit, m.judge = o.process, o.judge
	return m
}

// FromZero reports whether labels count from 0. The data may decide that during the first pass.
func (m *Reduced) FromZero() bool { return m.classes != nil && m.classes.labels.First == 0 }

// take sets the target to the label of an example.
func (o *classified) take(b *feature.Batch, ex *feature.Example) error {
	o.target = reduction.Target{Class: -1}
	switch o.kind {
	case feature.ClassLabels:
		if o.target.Class = o.labels.class(ex.Label); o.labels.outside(ex.Label) {
			o.labels.warnOutside(ex.Label, o.m.Tally.Stats.Examples, "not learned")
		}
		return nil
	case feature.MultiLabels:
		o.target.Costs = b.CostsOf(ex)
		for _, y := range o.target.Costs {
			if int(y.Class) >= o.labels.K {
				o.labels.warnOutside(float32(y.Class), o.m.Tally.Stats.Examples, "not learned")
			}
		}
		return nil
	}
	l := &o.labels
	o.costs = append(o.costs[:0], b.CostsOf(ex)...)
	for i := range o.costs {
		c := &o.costs[i].Class
		if err := l.decideFirst(float32(*c)); err != nil {
			return err
		}
		if i := l.class(float32(*c)); i >= 0 && i < l.K {
			continue
		}
		// As in vw another class has the cost: the first one, or the last one if labels count from 1.
		other := l.First * l.K
		l.warnOutside(float32(*c), o.m.Tally.Stats.Examples, "cost taken as that of class "+strconv.Itoa(other))
		*c = uint32(other)
	}
	for i := range o.costs {
		o.costs[i].Class = min(o.costs[i].Class-uint32(l.First), uint32(l.K-1))
	}
	o.target.Costs = o.costs
	return nil
}

// process predicts an example, learns from it unless it is held out, and books the prediction.
func (o *classified) process(b *feature.Batch, ex *feature.Example, held bool) error {
	m := o.m
	t := m.Tally
	learns := t.Learns(held)
	t.Calls.Count(ex, learns)
	o.own = *ex // the caller owns the example
	ex = &o.own
	ex.Weight = max(ex.Weight, 0) // as in vw's labels of classes
	if err := o.take(b, ex); err != nil {
		return err
	}
	m.slots.Whole.Range = t.Seen
	var c reduction.Choice
	if learns && ex.Labeled() {
		if c = o.learner.LearnClass(b, ex, &o.target); notFinite(c.Raw) {
			if err := diverged(m.Read, t.Passes+1, b, ex, divergence(ex, c.Raw, c.Loss), m.slots.Whole, m.slots.First, m.slots.Width()); err != nil {
				return err
			}
		}
		t.Seen = m.slots.Whole.Range
	} else {
		c = o.learner.PredictClass(b, ex, &o.target)
	}
	ex.Weight = c.Weight
	return o.account(b, ex, held, &c)
}

// judge measures one example of the validation set by its loss.
func (o *classified) judge(_ *metric.Sums, b *feature.Batch, ex *feature.Example, r loss.Range) float32 {
	if err := o.take(b, ex); err != nil {
		return 0 // the error of a label has ended training before
	}
	o.m.slots.Whole.Range = r
	return o.learner.PredictClass(b, ex, &o.target).Loss * ex.Weight
}

// account books one example in the sums, the files of predictions and the table.
func (o *classified) account(b *feature.Batch, ex *feature.Example, held bool, c *reduction.Choice) error {
	t := o.m.Tally
	right := ex.Label
	if ex.Labeled() {
		ex.Label = 0 // labels are names of classes, and vw does not sum them
	}
	features := ex.Count()
	if o.m.Tally.Features != nil {
		features = o.m.Tally.Features()
	}
	t.Stats.Add(ex, held, c.Loss*ex.Weight, features)
	if err := o.write(t.Files, b.TagOf(ex), c); err != nil {
		return err
	}
	// Formatting takes time, so it waits until a row is due.
	table := t.Console.Table
	if !table.Due(&t.Stats) {
		return nil
	}
	o.prediction = o.appendChoice(o.prediction[:0], c)
	return table.Print(&t.Stats, t.ShowsHoldout(), string(o.appendLabel(o.shown[:0], right)), string(o.prediction), features)
}

// appendChoice appends what is predicted.
func (o *classified) appendChoice(dst []byte, c *reduction.Choice) []byte {
	if o.kind != feature.MultiLabels {
		return strconv.AppendInt(dst, int64(c.Class+o.labels.First), 10)
	}
	for i, k := range c.Classes {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(k), 10)
	}
	return dst
}

// appendLabel appends the label as vw's table shows it.
func (o *classified) appendLabel(dst []byte, label float32) []byte {
	switch {
	case label == feature.NoLabel:
		return append(dst, "unknown"...)
	case o.kind == feature.CostLabels:
		return append(dst, "known"...)
	case o.kind == feature.ClassLabels:
		return append(dst, o.labels.label(label)...)
	}
	for i, y := range o.target.Costs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(y.Class), 10)
	}
	return dst
}

// write writes the lines of -p and -r.
func (o *classified) write(files *output.PredictionFiles, tag []byte, c *reduction.Choice) error {
	if files.Mute {
		return nil
	}
	if p := files.Predictions; p != nil {
		line := o.appendChoice(p.Buf[:0], c)
		if o.kind == feature.MultiLabels {
			line = append(line, ' ') // as in vw
		}
		if err := p.AddLine(line, tag); err != nil {
			return err
		}
	}
	raw := files.Raw
	if raw == nil || o.kind != feature.CostLabels { // as in vw the file of -r stays empty then
		return nil
	}
	line := raw.Buf[:0]
	for i, y := range o.target.Costs {
		if i > 0 {
			line = append(line, ' ')
		}
		line = append(strconv.AppendInt(line, int64(int(y.Class)+o.labels.First), 10), ':')
		line = strconv.AppendFloat(line, float64(c.Scores[i]), 'g', 6, 64)
	}
	return raw.AddLine(line, tag)
}
