// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"context"
	"log/slog"
	"math"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/learn/internal/vwtext"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/model"
)

// Tally books the predictions of a rank: vw's sums, the range of the labels, the metrics, and
// the losses that end training early.
type Tally struct {
	Loss         loss.Loss
	Link         loss.Link
	TestOnly     bool
	Binary       bool // predictions are -1 or 1, and losses 0 or 1
	Fixed        bool // Seen does not follow the labels
	Holdout      bool // examples are held out
	ClassWeights classWeights
	Calls        Calls
	Features     func() int // number of features that the current example shows; nil: feature.Example.Count
	Log          *slog.Logger
	Console      *output.Console
	Files        *output.PredictionFiles
	Job          *job.Job
	Vectors      func(allreduce.Progress) // sends the progress to the server in the job of shared vectors; nil: there is none

	Seen   loss.Range // label range so far
	Before loss.Range // Seen before the label of the current example
	Odd    OddLabels
	Spared float32 // SparedWeight of the current example; 0: none

	Stats    vwtext.Stats // over this rank's examples in this run
	Passes   int          // passes over the data so far, with those of the loaded model's run (Preserve)
	earlier  int          // passes of the loaded model's run
	Stop     EarlyStop
	Measures Measures
	Valid    *Validation // --valid; nil: none
	Passed   PassLog
	heldOut  float64 // mean loss of the newest pass over held-out examples or the validation set; 0: none

	ended  vwtext.Stats // Stats at the end of the newest pass
	newest float64      // mean loss of this rank's examples in that pass; NaN: none had a label, or it is not known
	solver bool         // the newest pass was one of a batch solver
}

// Learns reports whether an example is learned from, not just predicted.
func (t *Tally) Learns(held bool) bool { return !t.TestOnly && !held }

// Weighted returns f for examples that have the weight of their class. As in vw only examples
// that are learned from have it.
func (t *Tally) Weighted(f examples.Visit) examples.Visit {
	if len(t.ClassWeights) == 0 {
		return f
	}
	var own feature.Example
	return func(b *feature.Batch, ex *feature.Example, held bool) error {
		if !t.Learns(held) {
			return f(b, ex, held)
		}
		own = *ex // the batch must not change
		t.ClassWeights.Reweigh(&own)
		t.Spared = SparedWeight(ex, &own)
		err := f(b, &own, held)
		t.Spared = 0
		return err
	}
}

// Observe counts a label. The label range follows it unless the example is held out, as in vw.
func (t *Tally) Observe(ex *feature.Example, held bool) {
	t.Before = t.Seen
	if !ex.Labeled() {
		return
	}
	t.Stats.Seen.See(ex.Label)
	if t.Odd.Warns && !t.Odd.fits(ex.Label) {
		t.Log.Warn(t.Odd.warning(ex.Label, t.Loss), "example", t.Stats.Examples+1)
	}
	if !t.Fixed && !held {
		t.Seen = t.Seen.Include(ex.Label)
	}
}

// Account books one predicted example: in the sums, the metrics, the files of predictions
// and the table. raw is the sum over the features, clipped is raw within the label range,
// and l is the loss before the importance weight.
func (t *Tally) Account(b *feature.Batch, ex *feature.Example, held bool, raw, clipped, l float32) error {
	p, features := t.count(ex, held, clipped, l)
	if err := t.Files.Add(p, raw, b.TagOf(ex)); err != nil {
		return err
	}
	return t.Console.Table.Row(&t.Stats, t.ShowsHoldout(), ex.Label, p, features)
}

// count books one predicted example in the sums and the metrics. It returns the prediction that is
// shown, and the number of features.
func (t *Tally) count(ex *feature.Example, held bool, clipped, l float32) (p float32, features int) {
	p = t.Link.Apply(clipped)
	l *= max(ex.Weight, t.Spared, 0)
	if t.Binary {
		p, l = signOf(p, l, ex)
	}
	if features = ex.Count(); t.Features != nil {
		features = t.Features()
	}
	t.Stats.Add(ex, held, l, features)
	t.Measures.add(ex, held, clipped, p)
	return p, features
}

// Lines makes the lines of an example's prediction.
type Lines interface {
	// AppendPrediction appends a line of -p, without its end. score is the prediction through the
	// link.
	AppendPrediction(dst []byte, score float32, tag []byte) []byte
	// AppendRaw appends the lines of -r. The last one has neither tag nor end.
	AppendRaw(dst, tag []byte) []byte
}

// AccountAs is Account for predictions whose lines have another form.
func (t *Tally) AccountAs(b *feature.Batch, ex *feature.Example, held bool, clipped, l float32, lines Lines) error {
	p, features := t.count(ex, held, clipped, l)
	if out := t.Files.Predictions; out != nil && !t.Files.Mute {
		if err := out.AddLine(lines.AppendPrediction(out.Buf[:0], p, b.TagOf(ex)), nil); err != nil {
			return err
		}
	}
	if out := t.Files.Raw; out != nil && !t.Files.Mute {
		if err := out.AddLine(lines.AppendRaw(out.Buf[:0], b.TagOf(ex)), b.TagOf(ex)); err != nil {
			return err
		}
	}
	return t.Console.Table.Row(&t.Stats, t.ShowsHoldout(), ex.Label, p, features)
}

// RunPasses returns the number of passes so far without those of the loaded model's run. It decides whether and how a pass is shuffled.
func (t *Tally) RunPasses() int { return t.Passes - t.earlier }

// ShowsHoldout reports whether the table shows the losses of held-out examples, as it
// does from the second pass on.
func (t *Tally) ShowsHoldout() bool { return t.Holdout && t.Passes > 0 }

// signOf applies vw's --binary (binary.cc): the prediction is its sign, and the loss is the
// weight of an example whose sign is wrong. If the label is neither -1 nor 1, the loss is l.
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

// JudgeBy returns a judge of examples with simple labels, by the predictions of predict.
func (t *Tally) JudgeBy(predict func(fs []feature.Feature, initial float32, r loss.Range) float32) Judge {
	return func(sums *metric.Sums, b *feature.Batch, ex *feature.Example, r loss.Range) float32 {
		return t.JudgeScore(sums, predict(b.FeaturesOf(ex), ex.Initial, r), ex, r)
	}
}

// JudgeScore adds an example with a simple label to sums by its prediction, and returns its loss
// times its weight.
func (t *Tally) JudgeScore(sums *metric.Sums, clipped float32, ex *feature.Example, r loss.Range) float32 {
	p, l := t.Link.Apply(clipped), t.Loss.Loss(r, clipped, ex.Label)*ex.Weight
	if t.Binary {
		p, l = signOf(p, l, ex)
	}
	sums.Add(t.Measures.scale.caseOf(ex, clipped, p))
	return l
}

// Share gathers the sums of all ranks into t.Job.All, when the stage has made its own
// collectives.
func (t *Tally) Share(ctx context.Context, own job.Record) error {
	own.Stats, own.Range = t.Stats, t.Seen
	if err := t.Measures.share(ctx, t.Job.Group); err != nil {
		return err
	}
	if err := t.Job.Share(ctx, own); err != nil {
		return err
	}
	if t.Holdout && t.Job.Total > 1 && t.Job.Group.Stream() {
		return t.Job.ShareHoldout(ctx)
	}
	return nil
}

// Validate measures the validation set with the weights of judge. It belongs to the exchange of
// a step, since it needs the sums of all ranks.
func (t *Tally) Validate(ctx context.Context, judge Judge) error {
	if t.Valid == nil {
		return nil
	}
	r := t.Seen
	if !t.Fixed {
		r = t.Job.All.Range
	}
	if err := t.Valid.judge(ctx, t.Job.Group, r, judge); err != nil {
		return err
	}
	return t.Valid.known()
}

// ValidateDocuments is Validate for documents. complete returns the loss over the predicted tokens of
// a document, and their number.
func (t *Tally) ValidateDocuments(ctx context.Context, complete func(doc []feature.Feature) (loss, tokens float64)) error {
	v := t.Valid
	err := v.measure(ctx, t.Job.Group, func(b *feature.Batch, ex *feature.Example) (loss, weight float64) { return complete(b.FeaturesOf(ex)) })
	if err != nil {
		return err
	}
	return v.known()
}

// EndPass ends a pass over the data on this rank, after Share. better reports whether the
// loss on the holdout or validation set is the lowest so far, stop whether training ends
// since it has not fallen for EarlyStop.Patience passes. All ranks get the same answers, as
// they come from the records of all.
func (t *Tally) EndPass() (better, stop bool) {
	// The decisions use sums over all ranks only, never those of this rank.
	h := &t.Job.All.Stats.Holdout
	switch v := t.Valid; {
	case v == nil:
		better, stop = t.Stop.endPass(h.PassLoss, h.PassWeight)
		t.heldOut = mean(h.PassLoss, h.PassWeight)
	case v.fresh:
		better, stop = v.stop.endPass(v.loss, v.weight)
		t.heldOut = mean(v.loss, v.weight)
	}
	t.Passed.endPass(better, stop, t.Holdout, h)
	t.Measures.endPass(t.Passes+1, better, stop)
	t.Stats.Holdout.PassLoss, t.Stats.Holdout.PassWeight = 0, 0
	if !t.Fixed && !t.Job.Group.Stream() {
		t.Seen = t.Job.All.Range
	}
	t.Passes++
	t.newest = (t.Stats.Loss - t.ended.Loss) / (t.Stats.Labeled - t.ended.Labeled)
	t.ended = t.Stats
	return better, stop
}

// mean returns a mean loss; 0: there are no examples.
func mean(sum, weight float64) float64 {
	if weight > 0 {
		return sum / weight
	}
	return 0
}

// CurrentLoss returns the loss that shows how far training has come: of SGD the mean of all examples so far, each measured
// before it was learned from, and of a batch solver that of the newest whole pass, which measured one model.
func (t *Tally) CurrentLoss() float64 {
	if t.solver && !math.IsNaN(t.newest) {
		return t.newest
	}
	return t.Stats.AverageLoss()
}

// ReportSolver is Report for a pass of a batch solver.
func (t *Tally) ReportSolver(step string) error {
	t.solver = true
	return t.Report(step)
}

// Report sends the progress of this rank to the server, and adds a line to the log of passes.
func (t *Tally) Report(step string) error {
	p := allreduce.Progress{
		Pass:     uint32(t.Passes),
		Examples: t.Stats.Examples,
		Loss:     t.CurrentLoss(),
		Holdout:  t.heldOut,
		Step:     step,
	}
	t.Job.Group.Report(p)
	if t.Vectors != nil {
		t.Vectors(p)
	}
	return t.logPass(step)
}

// ForgetBest forgets the best pass so far. The losses after it are over other examples or of
// another stage, and cannot be compared.
func (t *Tally) ForgetBest() {
	t.Stop.reset()
	if t.Valid != nil {
		t.Valid.stop.reset()
	}
}

// StoppedBy returns the name of the set whose loss ends training early.
func (t *Tally) StoppedBy() string {
	if t.Valid != nil {
		return "validation"
	}
	return "holdout"
}

// Shared codes the part of the state that is the same on all ranks.
func (t *Tally) Shared(c *snapshot.Coder) {
	c.Number("passes", &t.Passes, snapshot.MaxCount)
	t.Stop.code(c)
	if t.Valid != nil {
		t.Valid.stop.code(c)
	}
	if t.Measures.Own != nil {
		codeResult(c, &t.Measures.Last)
		codeResult(c, &t.Measures.best)
	}
}

// Outcome codes the sums of a step's exchange, except the records.
func (t *Tally) Outcome(c *snapshot.Coder) {
	if m := &t.Measures; m.Own != nil {
		c.F64s("metrics", m.all.Vector())
	}
	if v := t.Valid; v != nil {
		c.Flag("validation", &v.fresh)
		c.F64("validation loss", &v.loss)
		c.F64("weight of the validation set", &v.weight)
		c.F64s("validation metrics", v.all.Vector())
	}
}

// Own codes what a replacement of this rank needs besides its record, except the part of the stage: what the rank has
// read, the table, the warning of labels, and the number of the stage.
func (t *Tally) Own(c *snapshot.Coder, p *job.Provenance, phase *int) {
	codeOwn(c, func(c *snapshot.Coder) { p.Code(c, t.Job.Rank) }, t.Console.Table, &t.Odd.Warns, phase)
}

// SkipOwn reads what Own has coded for another rank, and ignores it.
func SkipOwn(c *snapshot.Coder) {
	codeOwn(c, job.SkipProvenance, new(vwtext.Table), new(bool), new(int))
}

// codeOwn has the layout for Own and SkipOwn.
func codeOwn(c *snapshot.Coder, provenance func(*snapshot.Coder), table *vwtext.Table, warns *bool, phase *int) {
	provenance(c)
	table.Code(c)
	c.Flag("warns of odd labels", warns)
	c.Number("phase", phase, snapshot.MaxPhase)
}

// Adopt continues from the record of this rank, which another attempt may have sent. The
// training loss of earlier passes is unknown then.
func (t *Tally) Adopt(r *job.Record) {
	t.Stats = r.Stats
	t.Stats.Holdout.PassLoss, t.Stats.Holdout.PassWeight = 0, 0
	if t.Seen = r.Range; !t.Fixed {
		t.Seen = t.Job.All.Range
	}
	t.Passed.adopt(t.Job.All.Stats)
	t.ended, t.newest = t.Stats, math.NaN()
	if t.Measures.Own != nil {
		t.Measures.Own.Reset()
	}
	if t.Valid != nil {
		t.Valid.fresh = false
	}
}

// Preserve continues the sums, counters and table of the loaded model's run (vw's
// --preserve_performance_counters).
func (t *Tally) Preserve(r *model.Resume) {
	st, table := &t.Stats, t.Console.Table
	st.Examples, st.Features = r.ExampleNumber, r.TotalFeatures
	st.Labeled, st.Unlabeled, st.Labels, st.Loss = r.WeightedLabeled, r.WeightedUnlabeled, r.WeightedLabels, r.SumLoss
	t.Passes, t.earlier = int(r.CurrentPass), int(r.CurrentPass)
	t.ended, t.Passed.before = *st, *st // a single process: its sums are those of all ranks
	table.Loss, table.Labeled = r.SumLoss-r.SumLossSinceLastDump, r.OldWeightedLabeled
	if table.Next < float64(r.DumpInterval) {
		table.Next = float64(r.DumpInterval)
	}
}
