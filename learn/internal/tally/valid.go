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

// Validation is the validation set (--valid). After each pass each rank measures the weights on
// its part of the set, and training stops when the loss over all parts no longer falls.
type Validation struct {
	name   string // of the file, for messages
	data   *stream.Dataset
	own    *metric.Sums
	all    *metric.Sums
	stop   EarlyStop
	also   string // measure that is printed beside the loss
	tokens bool   // the set has documents, without labels

	loss, weight float64 // sums of the pass, over all ranks
	fresh        bool    // they are those of the current pass
	lines        []byte  // to be printed when the trace is at the start of a line
}

// NewHeldOut returns a validation set of documents, whose loss is that of a token: -ln p. It stops
// training after patience passes without a lower loss; 0: never.
func NewHeldOut(name string, data *stream.Dataset, patience int) *Validation {
	v := NewValidation(name, data, nil, "", patience)
	v.stop.On, v.tokens = patience > 0, true
	return v
}

// NewValidation returns a validation set in data with the measures of set. It stops training
// after patience passes without a lower loss.
func NewValidation(name string, data *stream.Dataset, set metric.Set, also string, patience int) *Validation {
	return &Validation{
		name: name, data: data, own: metric.NewSums(set), all: metric.NewSums(set),
		stop: EarlyStop{On: true, Patience: patience}, also: also,
	}
}

// Judge predicts an example of the validation set within the range r, adds it to
// the sums, and returns its loss times its weight.
type Judge func(sums *metric.Sums, b *feature.Batch, ex *feature.Example, r loss.Range) float32

// Improves reports whether the weights that were just measured are the best.
func (v *Validation) Improves() bool {
	return v != nil && v.fresh && (!v.stop.Known || meanLoss(v.loss, v.weight) < v.stop.Best)
}

// judge measures the weights that judge predicts with, over the parts of all ranks. r is
// the range of the predictions.
func (v *Validation) judge(ctx context.Context, g *allreduce.Group, r loss.Range, judge Judge) error {
	return v.measure(ctx, g, func(b *feature.Batch, ex *feature.Example) (loss, weight float64) {
		if !ex.Labeled() || ex.Weight <= 0 {
			return 0, 0
		}
		return float64(judge(v.own, b, ex, r)), float64(ex.Weight)
	})
}

// measure sums what visit returns of the examples in the parts of all ranks: the loss times the
// weight, and the weight.
func (v *Validation) measure(ctx context.Context, g *allreduce.Group, visit func(b *feature.Batch, ex *feature.Example) (loss, weight float64)) error {
	v.own.Reset()
	var sums [2]float64 // loss, weight
	err := examples.EachExample(ctx, v.data, func(b *feature.Batch, ex *feature.Example) {
		l, weight := visit(b, ex)
		sums[0] += l
		sums[1] += weight
	})
	if err != nil {
		return fmt.Errorf("learn.Config.Holdout.Valid: %w", err)
	}
	// own stays this rank's, so that an exchange can be repeated.
	copy(v.all.Vector(), v.own.Vector())
	if g.Size() > 1 {
		if err := g.AllReduce(ctx, allreduce.Vec(sums[:]).Named("validation loss"), allreduce.Sum); err != nil {
			return err
		}
		if all := v.all.Vector(); len(all) > 0 {
			if err := g.AllReduce(ctx, allreduce.Vec(all).Named("validation metrics"), allreduce.Sum); err != nil {
				return err
			}
		}
	}
	v.loss, v.weight, v.fresh = sums[0], sums[1], sums[1] > 0
	return nil
}

// known returns an error if nothing has been measured.
func (v *Validation) known() error {
	if !v.fresh && v.tokens {
		return &examples.DataError{Name: v.name, Text: "no document has two tokens, one to infer topics from and one to predict"}
	}
	if !v.fresh {
		return &examples.DataError{Name: v.name, Text: "no example of it has a label: learn.Config.Holdout.Valid has nothing to go by"}
	}
	return nil
}
