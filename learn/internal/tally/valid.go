// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/loss"
)

// Validation is the file of --valid: after each pass all ranks measure the
// weights on it, each on its part, and training stops when its loss no longer
// falls.
type Validation struct {
	name string // of the file, for messages
	data *stream.Dataset
	own  *metric.Sums
	all  *metric.Sums
	stop EarlyStop
	also string // the measure that is told beside the loss

	loss, weight float64 // of the pass, over all ranks
	fresh        bool    // they are of the pass under way
	lines        []byte  // to be told when the trace is at the start of a line
}

// NewValidation returns one that measures a set on data. It ends training after so many
// passes as patience without a lower loss.
func NewValidation(name string, data *stream.Dataset, set metric.Set, also string, patience int) *Validation {
	return &Validation{
		name: name, data: data, own: metric.NewSums(set), all: metric.NewSums(set),
		stop: EarlyStop{On: true, Patience: patience}, also: also,
	}
}

// Judge predicts an example of the validation set within the range r, adds it to
// the sums, and returns its loss times its weight.
type Judge func(sums *metric.Sums, fs []feature.Feature, ex *feature.Example, r loss.Range) float32

// Improves reports whether the weights that were just measured are the best.
func (v *Validation) Improves() bool {
	return v != nil && v.fresh && (!v.stop.Known || meanLoss(v.loss, v.weight) < v.stop.Best)
}

// measure measures the weights that judge predicts with, over the parts of all ranks. r is
// the range of the predictions.
func (v *Validation) measure(ctx context.Context, g *allreduce.Group, r loss.Range, judge Judge) error {
	v.own.Reset()
	var sums [2]float64 // loss, weight
	err := examples.EachExample(ctx, v.data, func(b *feature.Batch, ex *feature.Example) {
		if !ex.Labeled() || ex.Weight <= 0 {
			return
		}
		sums[0] += float64(judge(v.own, b.FeaturesOf(ex), ex, r))
		sums[1] += float64(ex.Weight)
	})
	if err != nil {
		return fmt.Errorf("learn.Config.Holdout.Valid: %w", err)
	}
	copy(v.all.Vector(), v.own.Vector())
	if g.Size() > 1 {
		if err := g.AllReduce(ctx, allreduce.Vec(sums[:]).Named("validation loss"), allreduce.Sum); err != nil {
			return err
		}
		if err := g.AllReduce(ctx, allreduce.Vec(v.all.Vector()).Named("validation metrics"), allreduce.Sum); err != nil {
			return err
		}
	}
	v.loss, v.weight, v.fresh = sums[0], sums[1], true
	if v.weight == 0 {
		return &examples.DataError{Name: v.name, Text: "no example of it has a label: learn.Config.Holdout.Valid has nothing to go by"}
	}
	return nil
}
