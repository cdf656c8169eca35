// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/internal/kernels"
)

// The accumulations of vw (accumulate.cc): sums and averages over one slot, or all slots, of
// an array of weights. A weight is stride consecutive floats, its slots. Slot 0 is the value.

// AccumulateScalar returns the sum of the x of all ranks.
func (g *Group) AccumulateScalar(ctx context.Context, name string, x float32) (float32, error) {
	g.scalar[0] = x
	err := g.AllReduce(ctx, Vec(g.scalar[:]).Named(name), Sum)
	return g.scalar[0], err
}

// Accumulate replaces slot offset of every weight by its sum over all ranks.
func (g *Group) Accumulate(ctx context.Context, w []float32, stride, offset int) error {
	sum, err := g.sumOfSlot(ctx, w, stride, offset, "weights")
	if err != nil {
		return err
	}
	for i, v := range sum {
		w[i*stride+offset] = v
	}
	return nil
}

// AccumulateAvg replaces slot offset of every weight by its mean over all ranks.
func (g *Group) AccumulateAvg(ctx context.Context, w []float32, stride, offset int) error {
	return g.AccumulateAvgInto(ctx, w, w, stride, offset)
}

// AccumulateAvgInto is AccumulateAvg with the result in dst, which is src or does not overlap
// it. src does not change unless it is dst.
func (g *Group) AccumulateAvgInto(ctx context.Context, dst, src []float32, stride, offset int) error {
	sum, err := g.sumOfSlot(ctx, src, stride, offset, "weights")
	if err != nil {
		return err
	}
	if stride > 1 {
		copy(dst, src)
	}
	ranks := float32(g.Size())
	for i, v := range sum {
		dst[i*stride+offset] = v / ranks
	}
	return nil
}

// AccumulateWeightedAvg averages weights as vw does after a pass with adaptive updates. Each
// rank's part is weighted by its adaptive sum g, slot 1. With G the sum of g over all ranks,
//
//	w := Σ w·g/G    g := Σ g·g/G    normalised slot := Σ n·g/G
//
// and every other slot is summed. If G is not positive, the weight is 0. normalizedSlot is
// the slot of the largest feature values, 0 if there is none.
func (g *Group) AccumulateWeightedAvg(ctx context.Context, w []float32, stride, normalizedSlot int) error {
	return g.AccumulateWeightedAvgInto(ctx, w, w, stride, normalizedSlot, 0)
}

// AccumulateWeightedAvgInto is AccumulateWeightedAvg with the result in dst, which is src or
// does not overlap it. src does not change unless it is dst. scratchSlot is a slot without
// meaning to other ranks, which becomes 0 in dst; 0 is none.
func (g *Group) AccumulateWeightedAvgInto(ctx context.Context, dst, src []float32, stride, normalizedSlot, scratchSlot int) error {
	if stride <= kernels.AdaptiveSlot || normalizedSlot < 0 || normalizedSlot >= stride || scratchSlot < 0 || scratchSlot >= stride {
		panic(fmt.Sprintf("BUG: allreduce: a weighted average with stride %d, normalised slot %d and scratch slot %d", stride, normalizedSlot, scratchSlot))
	}
	sums, err := g.sumOfSlot(ctx, src, stride, kernels.AdaptiveSlot, "adaptive sums")
	if err != nil {
		return err
	}
	if len(sums) > 0 {
		kernels.Weigh(dst, src, sums, stride, normalizedSlot, scratchSlot)
	}
	return g.AllReduce(ctx, Vec(dst).Named("weights"), Sum)
}

// sumOfSlot returns the sum over all ranks of one slot of every weight. The result is in the
// group's own memory, and is valid until the next call.
func (g *Group) sumOfSlot(ctx context.Context, w []float32, stride, offset int, name string) ([]float32, error) {
	if stride < 1 || offset < 0 || offset >= stride || len(w)%stride != 0 {
		panic(fmt.Sprintf("BUG: allreduce: slot %d of weights of %d floats, in an array of %d", offset, stride, len(w)))
	}
	n := len(w) / stride
	if cap(g.scratch) < n {
		g.rescratch(n)
	}
	sum := g.scratch[:n]
	for i := range sum {
		sum[i] = w[i*stride+offset]
	}
	return sum, g.AllReduce(ctx, Vec(sum).Named(name), Sum)
}

// rescratch enlarges the group's own memory, and registers it if bytes go over verbs.
func (g *Group) rescratch(n int) {
	old := g.scratch
	g.scratch = make([]float32, n)
	if g.Verbs() == "" {
		return
	}
	if err := errors.Join(Unregister(g, old), Register(g, g.scratch)); err != nil {
		g.log.Warn("the sums of a slot cannot be registered, they will be copied to be sent", "rank", g.cfg.Rank, "bytes", 4*n, "error", err)
	}
}
