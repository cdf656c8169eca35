// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"hash"
	"log/slog"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/learn/internal/vwtext"
	"github.com/gvw-project/gvw/loss"
)

// session is what one rank holds during a run, whatever it trains: the data,
// the sums, the files under way and the group.
type session struct {
	cfg   Config // with defaults, and with what the loaded model brought
	group *allreduce.Group
	data  *stream.Dataset
	log   *slog.Logger
	hold  *hold // of log, while the table is open

	create func(name string) (Output, error) // of the configuration, not subject to the lease

	basis hash.Hash32 // of the models that training starts from; nil: nothing was asked

	loss loss.Loss
	odd  oddLabels

	otherLoss string // a note that the loaded model was trained with another loss; "": none
	link      loss.Link
	seen      loss.Range // the label range; fixed for the logistic loss
	before    loss.Range // seen before the label of the example at hand
	fixed     bool       // seen does not follow the labels

	stats   Stats  // what this rank saw in this run
	calls   calls  // of vw's learners, likewise
	all     record // what all ranks saw, after the last step
	base    carried
	passes  int // passes over the data so far
	holdout holdout
	wired   bool    // the group knows this rank's shard
	nth     int     // number of the example at hand, in its pass
	spared  float32 // see sparedWeight; 0: none
	place   int     // the same among examples and the empty lines between them, as vw counts
	begun   time.Time
	perPass int // examples of this rank in a pass; 0: not known yet

	table  *vwtext.Table
	audit  *audit       // --audit and --invert_hash; nil: neither
	preds  *predictions // -p; nil: none
	raw    *predictions // -r; nil: none
	silent bool         // write no predictions: phase 2 of the hybrid

	midLine  bool // what was said last is no whole line
	measures measures
	passed   passed      // the pass that ended last
	valid    *validation // --valid; nil: none

	registered [][]float32 // with the group: see register
	refused    bool        // the log knows that a vector was not taken

	buf      []byte   // this rank's record
	pieces   [][]byte // of the records of all ranks, where they are long
	gathered [][]byte // the records of all ranks
	alone    record   // this rank's, of the last step
	ranks             // whose records they are

	keep bool                  // Work and Exchange leave the state whole, so that a lost rank can be replaced
	own  func(*snapshot.Coder) // what the machine adds to this rank's record then
	mute bool                  // the predictions of this pass are written already
	late bool                  // the job has been started without this rank

	guard sync.Locker // held while a pass learns, not while it reads; nil: nobody asks meanwhile
}

// carried is what a loaded model brings along besides its weights.
type carried struct{ Nsx, TotalWeight, T float64 }

// observe counts a label, and lets the label range follow it unless the example
// is held out, as vw has it.
func (s *session) observe(ex *feature.Example, held bool) {
	s.before = s.seen
	if !ex.Labeled() {
		return
	}
	s.stats.Seen.See(ex.Label)
	if s.odd.first && !s.odd.fits(ex.Label) {
		s.odd.warn(s, ex.Label)
	}
	if !s.fixed && !held {
		s.seen = s.seen.Include(ex.Label)
	}
}

// account books one predicted example: sums, predictions, table. raw is the
// sum over features, clipped the same within the range, l the unweighted loss.
func (s *session) account(b *feature.Batch, ex *feature.Example, held bool, raw, clipped, l float32) error {
	p := s.link.Apply(clipped)
	l *= max(ex.Weight, s.spared, 0)
	if s.cfg.Loss.Binary {
		p, l = signOf(p, l, ex)
	}
	features := ex.Count()
	s.stats.Add(ex, held, l, features)
	s.measures.add(s, ex, held, clipped, p)
	if s.preds != nil && !s.silent && !s.mute {
		if err := s.preds.add(p, b.TagOf(ex)); err != nil {
			return err
		}
	}
	if s.raw != nil && !s.silent && !s.mute {
		if err := s.raw.add(raw, b.TagOf(ex)); err != nil {
			return err
		}
	}
	return s.table.Row(&s.stats, s.holdout.on && s.passes > 0, ex.Label, p, features)
}

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

// ready tells the group what this rank has read, once: the job is wired when
// all ranks have done the work of their first step.
func (s *session) ready(ctx context.Context) error {
	if s.wired {
		return nil
	}
	examples, bytes, crc := s.data.Shard()
	if err := s.group.Ready(ctx, allreduce.Shard{Examples: examples, Bytes: bytes, CRC: crc}); err != nil {
		return err
	}
	if err := s.over(); err != nil {
		return err
	}
	s.wired = true
	if s.group.Stream() {
		return s.checkStream()
	}
	return nil
}

// share gathers the records of all ranks into s.all: the last collective of
// every step. In a job with vw workers there is no such call, and a rank keeps
// to its own sums.
func (s *session) share(ctx context.Context, own record) error {
	own.Stats, own.Range = s.stats, s.seen
	if err := s.measures.share(ctx, s.group); err != nil {
		return err
	}
	s.alone = own
	if s.total == 1 {
		s.all = own
		return nil
	}
	if s.group.Stream() {
		s.all = own
		return s.shareHoldout(ctx)
	}
	if err := s.gather(s.encode(own), func(dst [][]byte, src []byte) ([][]byte, error) {
		return s.group.AllGatherV(ctx, dst, src)
	}); err != nil {
		return err
	}
	return s.merge()
}

// endPass closes a pass over the data on this rank, after share.
func (s *session) endPass() (better, stop bool) {
	h := &s.all.Stats.Holdout
	switch v := s.valid; {
	case v == nil:
		better, stop = s.holdout.endPass(h.PassLoss, h.PassWeight)
	case v.fresh:
		better, stop = v.stop.endPass(v.loss, v.weight)
	}
	s.endMeasures(better, stop)
	s.stats.Holdout.PassLoss, s.stats.Holdout.PassWeight = 0, 0
	if !s.fixed && !s.group.Stream() {
		s.seen = s.all.Range
	}
	s.passes++
	return better, stop
}

// report tells the server, and the log of passes, how far this rank is.
func (s *session) report(step string) error {
	s.group.Report(allreduce.Progress{
		Pass:     uint32(s.passes),
		Examples: s.stats.Examples,
		Loss:     s.stats.AverageLoss(),
		Step:     step,
	})
	return s.logPass(step)
}

// checkStream refuses what vw's sequence of calls has no place for.
func (s *session) checkStream() error {
	switch {
	case len(s.cfg.Metrics.Measures) > 0:
		return usage("--metrics", "a job with vw workers has no place for them in its sequence of calls: measure the model afterwards, with -t -i")
	case len(s.cfg.Holdout.Valid) > 0:
		return usage("--valid", "a job with vw workers has no place for it in its sequence of calls: use the holdout options")
	}
	if s.cfg.Hybrid != nil {
		return usage("--hybrid", "a job with vw workers cannot run both phases in one process, since vw cannot: "+
			"run --passes P -f m first, then --bfgs --passes Q -i m, as with vw")
	}
	if s.cfg.regularizes() && s.cfg.Batch.BFGS {
		return usage("--output_feature_regularizer_binary", "a job with vw workers cannot: vw adds something else there at the end of each pass; let gvw workers alone do it")
	}
	return nil
}

// say prints to the table's place, unless the run is quiet.
func (s *session) say(text []byte) error {
	if s.table.Out == nil || len(text) == 0 {
		return nil
	}
	s.midLine = text[len(text)-1] != '\n'
	_, err := s.table.Out.Write(text)
	return err
}
