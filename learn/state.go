// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"math"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/model"
)

// The session's part of the state and of the results. What Work changes (sums,
// label range, table, measures under way) is a contribution: a rank that takes
// another one's place finds it in the record that this one sent last.

// maxCount bounds whatever is counted: passes, examples of a table.
const maxCount = 1 << 62

// shared is what all ranks have alike between two steps.
func (s *session) shared(c *snapshot.Coder) {
	c.Number("passes", &s.passes, maxCount)
	s.holdout.code(c)
	if s.valid != nil {
		s.valid.stop.code(c)
	}
	if s.measures.own != nil {
		codeResult(c, &s.measures.last)
		codeResult(c, &s.measures.best)
	}
	s.records(c)
}

// records are those of all ranks, as the last exchange left them.
func (s *session) records(c *snapshot.Coder) {
	if !s.keep && !c.Reading { // nobody has gathered the only one
		s.gathered = append(s.gathered[:0], s.encode(s.alone))
	}
	s.ranks.code(c)
	if c.Err != nil {
		return
	}
	for len(s.gathered) < s.size() {
		s.gathered = append(s.gathered, nil)
	}
	s.gathered = s.gathered[:s.size()]
	for i := range s.gathered {
		c.Bytes(fmt.Sprintf("record of rank %d", s.number(i)), &s.gathered[i], snapshot.MaxSmall)
	}
}

// outcome are the results that every step has.
func (s *session) outcome(c *snapshot.Coder) {
	s.records(c)
	if m := &s.measures; m.own != nil {
		c.F64s("metrics", m.all.Vector())
	}
	if v := s.valid; v != nil {
		c.Flag("validation", &v.fresh)
		c.F64("validation loss", &v.loss)
		c.F64("weight of the validation set", &v.weight)
		c.F64s("validation metrics", v.all.Vector())
	}
	if c.Reading && c.Err == nil {
		c.Err = s.merge()
	}
}

// encode is a record as it is sent, with what its rank's place needs where the
// state is to be taken over.
func (s *session) encode(r record) []byte {
	w := snapshot.Coder{B: r.appendTo(s.buf[:0])}
	if s.keep || s.total == 1 {
		s.codeOwn(&w)
	}
	s.buf = w.B
	return w.B
}

// codeOwn is what the place of a rank needs besides its record.
func (s *session) codeOwn(c *snapshot.Coder) {
	s.codeOrigin(c)
	s.table.Code(c)
	c.Flag("warned of labels", &s.odd.first)
	if s.own != nil {
		s.own(c)
	}
}

// adopt puts this rank where its record says it was.
func (s *session) adopt() error {
	if err := s.merge(); err != nil {
		return err
	}
	at := s.position()
	if at < 0 {
		return fmt.Errorf("rank %d is lost to the job, which goes on without it", s.rank)
	}
	var r record
	rest, err := r.decode(s.rank, s.gathered[at])
	if err != nil {
		return err
	}
	d := snapshot.Coder{B: rest, Reading: true}
	s.codeOwn(&d)
	if err := d.End("the record of this rank"); err != nil {
		return err
	}
	s.stats, s.alone = r.Stats, r
	s.stats.Holdout.PassLoss, s.stats.Holdout.PassWeight = 0, 0
	if s.seen = r.Range; !s.fixed {
		s.seen = s.all.Range
	}
	s.passed.before = s.all.Stats
	s.passed.loss, s.passed.best = math.NaN(), 0 // of passes that others have done
	if s.measures.own != nil {
		s.measures.own.Reset()
	}
	if s.valid != nil {
		s.valid.fresh = false
	}
	return nil
}

// gather brings the records of all ranks to all. One that is too long for a call
// comes in pieces; all ranks have records of one length.
func (s *session) gather(own []byte, all func(dst [][]byte, src []byte) ([][]byte, error)) error {
	var err error
	if len(own) <= allreduce.MaxRecord {
		s.gathered, err = all(s.gathered, own)
		return err
	}
	whole := make([][]byte, s.size())
	for len(own) > 0 {
		n := min(len(own), allreduce.MaxRecord)
		if s.pieces, err = all(s.pieces, own[:n]); err != nil {
			return err
		}
		for rank, b := range s.pieces {
			whole[rank] = append(whole[rank], b...)
		}
		own = own[n:]
	}
	s.gathered = whole
	return nil
}

// merge makes the job's record of those of all ranks, in the order of their
// numbers. Of the lost ones it has what they had last, but no part of this pass.
func (s *session) merge() error {
	if len(s.gathered) != s.size() {
		return fmt.Errorf("learn: got records of %d ranks, want %d", len(s.gathered), s.size())
	}
	first := true
	add := func(rank int, b []byte, lost bool) error {
		var r record
		if _, err := r.decode(rank, b); err != nil {
			return err
		}
		if lost {
			r.Stats.Holdout.PassLoss, r.Stats.Holdout.PassWeight = 0, 0
		}
		if first {
			s.all, first = r, false
			return nil
		}
		s.all.merge(&r)
		return nil
	}
	lost := s.lost
	for i, b := range s.gathered {
		rank := s.number(i)
		for len(lost) > 0 && lost[0].rank < rank {
			if err := add(lost[0].rank, lost[0].record, true); err != nil {
				return err
			}
			lost = lost[1:]
		}
		if err := add(rank, b, false); err != nil {
			return err
		}
	}
	for _, l := range lost {
		if err := add(l.rank, l.record, true); err != nil {
			return err
		}
	}
	return nil
}

func (h *holdout) code(c *snapshot.Coder) {
	c.F64("best holdout loss", &h.best)
	c.Flag("holdout loss known", &h.known)
	c.Flag("holdout begun", &h.begun)
	c.Number("passes without a better loss", &h.without, maxCount)
}

// Limits on what a state may claim to hold.
const (
	maxMeasures = 64
	maxName     = 64
	maxBins     = 1 << 10
)

// codeResult is the measures of a pass, if there are any.
func codeResult(c *snapshot.Coder, r **result) {
	there := *r != nil
	if c.Flag("measures", &there); !there {
		*r = nil
		return
	}
	if c.Reading {
		*r = &result{}
	}
	v := *r
	c.Number("pass of the measures", &v.Pass, maxCount)
	n := len(v.Values)
	if c.Number("number of measures", &n, maxMeasures); c.Reading {
		v.Values = make([]metric.Value, n)
	}
	for i := range v.Values {
		c.Text("name of a measure", &v.Values[i].Name, maxName)
		c.F64("measure", &v.Values[i].Value)
	}
	n = len(v.Curve)
	if c.Number("bins of the calibration", &n, maxBins); c.Reading && n > 0 {
		v.Curve = make([]metric.Bin, n)
	}
	for i := range v.Curve {
		b := &v.Curve[i]
		for _, x := range []*float64{&b.Above, &b.UpTo, &b.Weight, &b.Predicted, &b.Positive} {
			c.F64("calibration", x)
		}
	}
}

// codeResume is what a model keeps for training to go on.
func codeResume(c *snapshot.Coder, r *model.Resume) {
	for _, v := range []*float64{
		&r.NormNormalizer, &r.T, &r.SumLoss, &r.SumLossSinceLastDump, &r.WeightedLabeled, &r.WeightedLabels,
		&r.WeightedUnlabeled, &r.TotalWeight, &r.OldWeightedLabeled, &r.Gravity, &r.Contraction,
	} {
		c.F64("counters of the best model", v)
	}
	for _, v := range []*float32{&r.InitialT, &r.DumpInterval, &r.MinLabel, &r.MaxLabel} {
		c.F32("counters of the best model", v)
	}
	for _, v := range []*uint64{&r.ExampleNumber, &r.TotalFeatures, &r.CurrentPass} {
		c.U64("counters of the best model", v)
	}
	n := len(r.Models)
	if c.Number("models", &n, maxModels); c.Reading && len(c.B) < 16*n {
		c.Fail("models: got %d, there are bytes for fewer", n)
	} else if c.Reading && c.Err == nil && n > 0 {
		r.Models = make([]model.ModelSums, n)
	}
	for i := range r.Models {
		c.F64("sums of a model", &r.Models[i].NormNormalizer)
		c.F64("sums of a model", &r.Models[i].TotalWeight)
	}
}

// maxModels is how many classes there can be.
const maxModels = 1 << 32

// predicts reports whether predictions are written.
func (s *session) predicts() bool { return s.preds != nil || s.raw != nil }
