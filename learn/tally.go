// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"log/slog"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/learn/internal/vwtext"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/model"
)

// Tally books the examples that a rank has predicted: vw's sums, the range of the labels,
// the metrics and the losses that end training early.
type Tally struct {
	loss         loss.Loss
	link         loss.Link
	testOnly     bool
	binary       bool // predictions are -1 or 1, and losses 0 or 1
	fixed        bool // seen does not follow the labels
	holdout      bool // examples are held out
	classWeights classWeights
	calls        calls
	log          *slog.Logger
	console      *console
	files        *predictionFiles
	job          *Job

	seen   loss.Range // the label range; fixed for the logistic loss
	before loss.Range // seen before the label of the example at hand
	odd    oddLabels
	spared float32 // see sparedWeight; 0: none

	stats    vwtext.Stats // what this rank saw in this run
	passes   int          // passes over the data so far
	stop     earlyStop
	measures measures
	valid    *validation // --valid; nil: none
	passed   passLog
}

// learns reports whether an example is learned from, not just predicted.
func (t *Tally) learns(held bool) bool { return !t.testOnly && !held }

// weighted is f for examples whose weights are those of their classes. As in vw only an
// example that is learned from has that weight.
func (t *Tally) weighted(f visit) visit {
	if len(t.classWeights) == 0 {
		return f
	}
	var own feature.Example
	return func(b *feature.Batch, ex *feature.Example, held bool) error {
		if !t.learns(held) {
			return f(b, ex, held)
		}
		own = *ex // the batch stays as it is
		t.classWeights.reweigh(&own)
		t.spared = sparedWeight(ex, &own)
		err := f(b, &own, held)
		t.spared = 0
		return err
	}
}

// observe counts a label, and lets the label range follow it unless the example
// is held out, as vw has it.
func (t *Tally) observe(ex *feature.Example, held bool) {
	t.before = t.seen
	if !ex.Labeled() {
		return
	}
	t.stats.Seen.See(ex.Label)
	if t.odd.first && !t.odd.fits(ex.Label) {
		t.log.Warn(t.odd.warning(ex.Label, t.loss), "example", t.stats.Examples+1)
	}
	if !t.fixed && !held {
		t.seen = t.seen.Include(ex.Label)
	}
}

// account books one predicted example: sums, predictions, table. raw is the
// sum over features, clipped the same within the range, l the unweighted loss.
func (t *Tally) account(b *feature.Batch, ex *feature.Example, held bool, raw, clipped, l float32) error {
	p := t.link.Apply(clipped)
	l *= max(ex.Weight, t.spared, 0)
	if t.binary {
		p, l = signOf(p, l, ex)
	}
	features := ex.Count()
	t.stats.Add(ex, held, l, features)
	t.measures.add(ex, held, clipped, p)
	if err := t.files.add(p, raw, b.TagOf(ex)); err != nil {
		return err
	}
	return t.console.table.Row(&t.stats, t.showsHoldout(), ex.Label, p, features)
}

// showsHoldout reports whether the table shows the losses of held-out examples, as it
// does from the second pass on.
func (t *Tally) showsHoldout() bool { return t.holdout && t.passes > 0 }

// signOf is vw's --binary: the sign as the prediction, and as the loss the weight
// of an example whose sign is wrong. l is the loss of one whose label is no sign.
func signOf(p, l float32, ex *feature.Example) (prediction, loss float32) {
	prediction = -1
	if p > 0 {
		prediction = 1
	}
	switch {
	case ex.Label != 1 && ex.Label != -1:
		return prediction, l
	case ex.Label != prediction:
		return prediction, ex.Weight
	}
	return prediction, 0
}

// judgeBy judges examples of simple labels by what predict says.
func (t *Tally) judgeBy(predict func(fs []feature.Feature, initial float32, r loss.Range) float32) judge {
	return func(sums *metric.Sums, fs []feature.Feature, ex *feature.Example, r loss.Range) float32 {
		clipped := predict(fs, ex.Initial, r)
		p, l := t.link.Apply(clipped), t.loss.Loss(r, clipped, ex.Label)*ex.Weight
		if t.binary {
			p, l = signOf(p, l, ex)
		}
		sums.Add(t.measures.scale.caseOf(ex, clipped, p))
		return l
	}
}

// share gathers what the ranks have booked into t.job.all: the last collectives of
// every step.
func (t *Tally) share(ctx context.Context, own record) error {
	own.Stats, own.Range = t.stats, t.seen
	if err := t.measures.share(ctx, t.job.group); err != nil {
		return err
	}
	if err := t.job.share(ctx, own); err != nil {
		return err
	}
	if t.holdout && t.job.total > 1 && t.job.group.Stream() {
		return t.job.shareHoldout(ctx)
	}
	return nil
}

// validate measures the weights that judge predicts with. It belongs to a step's
// exchange, since all ranks need the sums of all.
func (t *Tally) validate(ctx context.Context, judge judge) error {
	if t.valid == nil {
		return nil
	}
	r := t.seen
	if !t.fixed {
		r = t.job.all.Range
	}
	return t.valid.measure(ctx, t.job.group, r, judge)
}

// endPass closes a pass over the data on this rank, after share.
func (t *Tally) endPass() (better, stop bool) {
	h := &t.job.all.Stats.Holdout
	switch v := t.valid; {
	case v == nil:
		better, stop = t.stop.endPass(h.PassLoss, h.PassWeight)
	case v.fresh:
		better, stop = v.stop.endPass(v.loss, v.weight)
	}
	t.passed.endPass(better, stop, t.holdout, h)
	t.measures.endPass(t.passes+1, better, stop)
	t.stats.Holdout.PassLoss, t.stats.Holdout.PassWeight = 0, 0
	if !t.fixed && !t.job.group.Stream() {
		t.seen = t.job.all.Range
	}
	t.passes++
	return better, stop
}

// report tells the server, and the log of passes, how far this rank is.
func (t *Tally) report(step string) error {
	t.job.group.Report(allreduce.Progress{
		Pass:     uint32(t.passes),
		Examples: t.stats.Examples,
		Loss:     t.stats.AverageLoss(),
		Step:     step,
	})
	return t.logPass(step)
}

// forgetBest begins to look for the best pass anew.
func (t *Tally) forgetBest() {
	t.stop.reset()
	if t.valid != nil {
		t.valid.stop.reset()
	}
}

// stoppedBy names the set that training is stopped by.
func (t *Tally) stoppedBy() string {
	if t.valid != nil {
		return "validation"
	}
	return "holdout"
}

// shared is what all ranks have alike between two steps.
func (t *Tally) shared(c *snapshot.Coder) {
	c.Number("passes", &t.passes, snapshot.MaxCount)
	t.stop.code(c)
	if t.valid != nil {
		t.valid.stop.code(c)
	}
	if t.measures.own != nil {
		codeResult(c, &t.measures.last)
		codeResult(c, &t.measures.best)
	}
}

// outcome are the sums that every step's exchange makes, besides the records.
func (t *Tally) outcome(c *snapshot.Coder) {
	if m := &t.measures; m.own != nil {
		c.F64s("metrics", m.all.Vector())
	}
	if v := t.valid; v != nil {
		c.Flag("validation", &v.fresh)
		c.F64("validation loss", &v.loss)
		c.F64("weight of the validation set", &v.weight)
		c.F64s("validation metrics", v.all.Vector())
	}
}

// own is what the place of this rank needs besides its record.
func (t *Tally) own(c *snapshot.Coder) {
	t.console.table.Code(c)
	c.Flag("warned of labels", &t.odd.first)
}

// adopt goes on from the record of this rank's place.
func (t *Tally) adopt(r *record) {
	t.stats = r.Stats
	t.stats.Holdout.PassLoss, t.stats.Holdout.PassWeight = 0, 0
	if t.seen = r.Range; !t.fixed {
		t.seen = t.job.all.Range
	}
	t.passed.adopt(t.job.all.Stats)
	if t.measures.own != nil {
		t.measures.own.Reset()
	}
	if t.valid != nil {
		t.valid.fresh = false
	}
}

// preserve is --preserve_performance_counters: the sums, counters and table go on
// where the loaded model's run stopped.
func (t *Tally) preserve(r *model.Resume) {
	st, table := &t.stats, t.console.table
	st.Examples, st.Features = r.ExampleNumber, r.TotalFeatures
	st.Labeled, st.Unlabeled, st.Labels, st.Loss = r.WeightedLabeled, r.WeightedUnlabeled, r.WeightedLabels, r.SumLoss
	t.passes = int(r.CurrentPass)
	table.Loss, table.Labeled = r.SumLoss-r.SumLossSinceLastDump, r.OldWeightedLabeled
	if table.Next < float64(r.DumpInterval) {
		table.Next = float64(r.DumpInterval)
	}
}
