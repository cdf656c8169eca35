// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"context"
	"slices"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/invariant"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/learn/internal/training"
	"github.com/gvw-project/gvw/learn/internal/vwtext"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/sgd"
)

// Classes is the stage of one against all by SGD. Its passes are those of Online, but each
// example teaches the learners of all classes, whose weights lie in one table.
//
// The weights are averaged as Online does it. The sums that each class keeps besides (vw's
// --per_model_save_load) are added up over the ranks. Only what a rank has added to the sums of
// the loaded model is exchanged, so that these are counted once.
type Classes struct {
	Online
	learners *sgd.Classes
	chooser  *Chooser

	loaded []sgd.ClassSums // sums of the loaded model, equal on all ranks
	all    []sgd.ClassSums // what the job has added so far, over all ranks
	total  classLoss       // log-losses over all ranks
	gone   goneSums        // share of lost ranks in all and total
	vector []float64       // buffer of the collective

	placed []feature.Feature // features of the current example by their first weight, for the mixer
}

// NewClasses returns the stage with the learners of all classes.
func NewClasses(c OnlineConfig, learners *sgd.Classes, chooser *Chooser) *Classes {
	m := &Classes{
		Online: *NewOnline(c, learners.Whole), learners: learners, chooser: chooser,
		loaded: slices.Clone(learners.Sums()), all: make([]sgd.ClassSums, len(learners.Sums())),
	}
	m.also, m.made, m.work, m.alone = m.shareSums, m.model, m.Work, m.ownSums
	m.judge, m.use = chooser.judge, learners.Use
	return m
}

// Work predicts every example of the shard and learns from it.
func (m *Classes) Work(ctx context.Context) error {
	m.guard()
	defer m.end()
	return m.Read.Pass(ctx, m.Tally.Passes, m.Tally.Weighted(func(b *feature.Batch, ex *feature.Example, held bool) error {
		if m.skipped(held) {
			return nil
		}
		if err := m.chooser.process(b, ex, held); err != nil || m.mixer == nil || !m.Tally.Learns(held) {
			return err
		}
		m.placed = m.placed[:0]
		for _, f := range b.FeaturesOf(ex) {
			m.placed = append(m.placed, feature.Feature{Index: m.learners.Place(f.Index, 0), Value: f.Value})
		}
		return m.mixer.Learned(ctx, m.placed, len(m.all))
	}))
}

// Sums also has the sums of each class.
func (m *Classes) Sums(dst []float64) []float64 {
	dst = m.Online.Sums(dst)
	for _, s := range m.learners.Sums() {
		dst = append(dst, s.Nsx, s.TotalWeight)
	}
	return dst
}

// SetSums also sets the sums of each class.
func (m *Classes) SetSums(sums []float64) {
	own := m.learners.Sums()
	first := len(sums) - 2*len(own)
	m.Online.SetSums(sums[:first])
	for i := range own {
		own[i] = sgd.ClassSums{Nsx: sums[first+2*i], TotalWeight: sums[first+2*i+1]}
	}
}

// ownSums makes the sums of this rank those of the job, for the model of an own pass.
func (m *Classes) ownSums() {
	for i, s := range m.learners.Sums() {
		m.all[i] = sgd.ClassSums{Nsx: s.Nsx - m.loaded[i].Nsx, TotalWeight: s.TotalWeight - m.loaded[i].TotalWeight}
	}
}

// goneSums are the contributions of lost ranks to the sums of the job. The zero value means
// that no rank has been lost.
type goneSums struct {
	classes []sgd.ClassSums
	loss    classLoss
}

// Shared codes the part of the state that is the same on all ranks.
func (m *Classes) Shared(c *snapshot.Coder) {
	m.Online.Shared(c)
	m.Outcome(c)
	gone := m.gone.classes != nil
	if c.Flag("sums of lost ranks", &gone); !gone {
		return
	}
	if c.Reading() {
		m.gone.classes = make([]sgd.ClassSums, len(m.all))
	}
	codeSums(c, m.gone.classes, &m.gone.loss)
}

// Own codes the part of the state that only this rank has. The sums come first: Shrink decodes
// no more than these from the record of a lost rank.
func (m *Classes) Own(c *snapshot.Coder) {
	codeSums(c, m.learners.Sums(), &m.chooser.sums)
	m.Online.Own(c)
	turn := m.learners.Turn()
	if c.Number("class whose turn it is", &turn, len(m.all)-1); c.Reading() && c.Err() == nil {
		c.FailWith(m.learners.SetTurn(turn))
	}
	labels := &m.chooser.labels
	c.Number("label of the first class", &labels.First, 1)
	c.Flag("first label known", &labels.Decided)
	c.Flag("warned of labels outside", &labels.warned)
}

// Outcome codes the sums of the classes over all ranks.
func (m *Classes) Outcome(c *snapshot.Coder) { codeSums(c, m.all, &m.total) }

// codeSums codes two sums per class, and the log-losses. The number of classes is that of the
// options.
func codeSums(c *snapshot.Coder, sums []sgd.ClassSums, l *classLoss) {
	for i := range sums {
		c.F64("sums of a class", &sums[i].Nsx)
		c.F64("sums of a class", &sums[i].TotalWeight)
	}
	c.F64("log-loss", &l.trained)
	c.F64("log-loss held out", &l.held)
}

// Shrink also keeps the contributions of the lost ranks to the sums of the job. It reads them
// from the records that these ranks committed last.
func (m *Classes) Shrink() (void bool, err error) {
	gone := goneSums{classes: make([]sgd.ClassSums, len(m.all))}
	sums, l := make([]sgd.ClassSums, len(m.all)), classLoss{}
	for _, lost := range m.Job.Lost {
		var r job.Record
		rest, err := r.Decode(lost.Rank, lost.Record)
		if err != nil {
			return false, err
		}
		var t vwtext.Table
		d := snapshot.Decode(rest)
		job.SkipProvenance(&d)
		t.Code(&d)
		for range 2 { // the warning of labels, the phase
			var skip uint64
			d.U64("record", &skip)
		}
		if codeSums(&d, sums, &l); d.Err() != nil {
			return false, d.Err()
		}
		for i, sum := range sums {
			if invariant.Enabled {
				invariant.Check(m.chooser.Sampled || sum.TotalWeight == r.TotalWeight,
					"sgdstage: class %d of lost rank %d has weight %v, its examples have %v", i, lost.Rank, sum.TotalWeight, r.TotalWeight)
			}
			gone.classes[i].Nsx += sum.Nsx - m.loaded[i].Nsx
			gone.classes[i].TotalWeight += sum.TotalWeight - m.loaded[i].TotalWeight
		}
		gone.loss.trained += l.trained
		gone.loss.held += l.held
	}
	m.gone = gone
	return m.Online.Shrink()
}

// shareSums adds up over all ranks the sums of the classes and the log-losses. It is a
// collective of the exchange, before the records. In a job with vw workers each rank keeps its
// own sums, since vw has no such call.
func (m *Classes) shareSums(ctx context.Context, g *allreduce.Group) error {
	// Two sums per class, then the two log-losses.
	v := m.vector[:0]
	for i, s := range m.learners.Sums() {
		v = append(v, s.Nsx-m.loaded[i].Nsx, s.TotalWeight-m.loaded[i].TotalWeight)
	}
	v = append(v, m.chooser.sums.trained, m.chooser.sums.held)
	m.vector = v
	if m.Job.Total > 1 && !g.Stream() { // vw has no such call
		if err := g.AllReduce(ctx, allreduce.Vec(v).Named("sums of the classes"), allreduce.Sum); err != nil {
			return err
		}
	}
	for i := range m.all {
		m.all[i] = sgd.ClassSums{Nsx: v[2*i], TotalWeight: v[2*i+1]}
	}
	m.total = classLoss{v[2*len(m.all)], v[2*len(m.all)+1]}
	// Every rank adds the contributions of lost ranks after the collective, so they count once
	// and on all ranks alike.
	for i, sum := range m.gone.classes {
		m.all[i].Nsx += sum.Nsx
		m.all[i].TotalWeight += sum.TotalWeight
	}
	m.total.trained += m.gone.loss.trained
	m.total.held += m.gone.loss.held
	return nil
}

// Finish ends training and returns its model.
func (m *Classes) Finish() (training.Outcome, error) {
	return training.Outcome{Model: m.Online.final(), LogLoss: m.chooser.logLoss(m.total)}, nil
}

// model returns the current model. With resume state it has the sums of each class. Those of
// the first class also stand where a model without classes has its own, as in vw.
func (m *Classes) model() *model.Regressor {
	reg := m.Online.model()
	if res := reg.Resume; res != nil {
		for i, b := range m.loaded {
			res.Models = append(res.Models, model.ModelSums{
				NormNormalizer: b.Nsx + m.all[i].Nsx, TotalWeight: b.TotalWeight + m.all[i].TotalWeight,
			})
		}
		res.NormNormalizer, res.TotalWeight = res.Models[0].NormNormalizer, res.Models[0].TotalWeight
	}
	return reg
}
