// SPDX-License-Identifier: Apache-2.0

package sgdstage

import (
	"context"
	"slices"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/invariant"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/sgd"
)

// jobSums are the sums of the normalised rule that each of several learners in one table keeps
// (vw's --per_model_save_load), and further sums, over the ranks of a job. Only what a rank has
// added to the sums of the loaded model is exchanged, so that these are counted once.
type jobSums struct {
	own  []sgd.ClassSums // of this rank; the learners change them
	more []float64       // further sums of this rank; the owner changes them

	loaded []sgd.ClassSums // sums of the loaded model, equal on all ranks
	all    []sgd.ClassSums // what the job has added so far, over all ranks
	total  []float64       // more, over all ranks

	// The share of lost ranks in all and total; nil: no rank has been lost.
	gone     []sgd.ClassSums
	goneMore []float64

	vector []float64 // buffer of the collective
}

// newJobSums returns the sums of learners, and more sums.
func newJobSums(own []sgd.ClassSums, more []float64) jobSums {
	return jobSums{
		own: own, more: more, loaded: slices.Clone(own),
		all: make([]sgd.ClassSums, len(own)), total: make([]float64, len(more)),
	}
}

// alone replaces the sums of the job by what this rank has added to them. The model of an OwnPass has them.
func (s *jobSums) alone() {
	for i, v := range s.own {
		s.all[i] = sgd.ClassSums{Nsx: v.Nsx - s.loaded[i].Nsx, TotalWeight: v.TotalWeight - s.loaded[i].TotalWeight}
	}
}

// share adds up the sums over all ranks. It is a collective of the exchange, before the records. In
// a job with vw workers each rank keeps its own sums, since vw has no such call.
func (s *jobSums) share(ctx context.Context, g *allreduce.Group, ranks int) error {
	v := s.vector[:0]
	for i, sum := range s.own {
		v = append(v, sum.Nsx-s.loaded[i].Nsx, sum.TotalWeight-s.loaded[i].TotalWeight)
	}
	v = append(v, s.more...)
	s.vector = v
	if ranks > 1 && !g.Stream() { // vw has no such call
		if err := g.AllReduce(ctx, allreduce.Vec(v).Named("sums of the classes"), allreduce.Sum); err != nil {
			return err
		}
	}
	for i := range s.all {
		s.all[i] = sgd.ClassSums{Nsx: v[2*i], TotalWeight: v[2*i+1]}
	}
	copy(s.total, v[2*len(s.all):])
	// Every rank adds the contributions of lost ranks after the collective, so they count once
	// and on all ranks alike.
	for i, sum := range s.gone {
		s.all[i].Nsx += sum.Nsx
		s.all[i].TotalWeight += sum.TotalWeight
	}
	for i, v := range s.goneMore {
		s.total[i] += v
	}
	return nil
}

// codeShared codes the share of lost ranks.
func (s *jobSums) codeShared(c *snapshot.Coder) {
	gone := s.gone != nil
	if c.Flag("sums of lost ranks", &gone); !gone {
		return
	}
	if c.Reading() {
		s.gone, s.goneMore = make([]sgd.ClassSums, len(s.all)), make([]float64, len(s.total))
	}
	codeSums(c, s.gone, s.goneMore)
}

// codeOwn codes the sums of this rank. They come first in the state of a rank: lose decodes no more
// than these from the record of a lost rank.
func (s *jobSums) codeOwn(c *snapshot.Coder) { codeSums(c, s.own, s.more) }

// codeAll codes the sums over all ranks.
func (s *jobSums) codeAll(c *snapshot.Coder) { codeSums(c, s.all, s.total) }

// codeSums codes two sums per learner, and more. Their numbers follow from the options.
func codeSums(c *snapshot.Coder, sums []sgd.ClassSums, more []float64) {
	for i := range sums {
		c.F64("sums of a class", &sums[i].Nsx)
		c.F64("sums of a class", &sums[i].TotalWeight)
	}
	for i := range more {
		c.F64("log-loss", &more[i])
	}
}

// lose keeps the contributions of the lost ranks to the sums of the job. It reads them from the
// records that these ranks committed last. every reports whether each learner learns from every
// example.
func (s *jobSums) lose(j *job.Job, every bool) error {
	gone, goneMore := make([]sgd.ClassSums, len(s.all)), make([]float64, len(s.total))
	sums, more := make([]sgd.ClassSums, len(s.all)), make([]float64, len(s.total))
	for _, lost := range j.Lost {
		var r job.Record
		rest, err := r.Decode(lost.Rank, lost.Record)
		if err != nil {
			return err
		}
		d := snapshot.Decode(rest)
		tally.SkipOwn(&d)
		if codeSums(&d, sums, more); d.Err() != nil {
			return d.Err()
		}
		for i, sum := range sums {
			if invariant.Enabled {
				invariant.Check(!every || sum.TotalWeight == r.TotalWeight,
					"sgdstage: class %d of lost rank %d has weight %v, its examples have %v", i, lost.Rank, sum.TotalWeight, r.TotalWeight)
			}
			gone[i].Nsx += sum.Nsx - s.loaded[i].Nsx
			gone[i].TotalWeight += sum.TotalWeight - s.loaded[i].TotalWeight
		}
		for i, v := range more {
			goneMore[i] += v
		}
	}
	s.gone, s.goneMore = gone, goneMore
	return nil
}

// keep stores the sums of each learner in the resume state of a model. Those of the first one also
// stand where a model of one learner has its own, as in vw.
func (s *jobSums) keep(res *model.Resume) {
	for i, b := range s.loaded {
		res.Models = append(res.Models, model.ModelSums{
			NormNormalizer: b.Nsx + s.all[i].Nsx, TotalWeight: b.TotalWeight + s.all[i].TotalWeight,
		})
	}
	res.NormNormalizer, res.TotalWeight = res.Models[0].NormNormalizer, res.Models[0].TotalWeight
}

// appendTo appends the sums of this rank to dst, for another attempt of a lost rank.
func (s *jobSums) appendTo(dst []float64) []float64 {
	for _, v := range s.own {
		dst = append(dst, v.Nsx, v.TotalWeight)
	}
	return dst
}

// take sets the sums that appendTo has appended, and returns what precedes them.
func (s *jobSums) take(sums []float64) []float64 {
	first := len(sums) - 2*len(s.own)
	for i := range s.own {
		s.own[i] = sgd.ClassSums{Nsx: sums[first+2*i], TotalWeight: sums[first+2*i+1]}
	}
	return sums[:first]
}
