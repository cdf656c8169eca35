// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/mem"
)

// The accumulations of vw (accumulate.cc): sums and averages over one slot, or all slots, of
// an array of weights. A weight is stride consecutive floats, its slots. Slot 0 is the value.

// AccumulateScalar returns the sum of the x of all ranks.
func (g *Group) AccumulateScalar(ctx context.Context, name string, x float32) (float32, error) {
	g.scalar[0] = x
	err := g.AllReduce(ctx, Vec(g.scalar[:]).Named(name), Sum)
	return g.scalar[0], err
}

// AccumulateTotals replaces the totals of a program by their sums over all ranks, one by one, as vw
// does at the end of a job. names has a name for each. It is called once, after the last pass.
//
// The vw of the Python package leaves a job before that. In a job with such workers complete is
// false, and the totals are those of this rank.
func (g *Group) AccumulateTotals(ctx context.Context, names []string, totals []float32) (complete bool, err error) {
	g.leaving()
	own := slices.Clone(totals)
	for i, name := range names {
		totals[i], err = g.AccumulateScalar(ctx, name, own[i])
		switch {
		case errors.Is(err, engine.ErrLeft):
			copy(totals, own)
			return false, nil
		case err != nil:
			return false, err
		}
	}
	return true, nil
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

// AccumulateAvg sets dst to src, with slot offset of every weight replaced by its mean over all
// ranks. dst is src or does not overlap it. src does not change unless it is dst.
func (g *Group) AccumulateAvg(ctx context.Context, dst, src []float32, stride, offset int) error {
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
// the slot of the largest feature values, 0 if there is none. scratchSlot is a slot without
// meaning to other ranks, which becomes 0; 0 is none.
//
// The result is in dst, which is src or does not overlap it. src does not change unless it is
// dst. After an error dst is undefined.
func (g *Group) AccumulateWeightedAvg(ctx context.Context, dst, src []float32, stride, normalizedSlot, scratchSlot int) error {
	if stride <= kernels.AdaptiveSlot || normalizedSlot < 0 || normalizedSlot >= stride || scratchSlot < 0 || scratchSlot >= stride {
		panic(fmt.Sprintf("BUG: allreduce: a weighted average with stride %d, normalised slot %d and scratch slot %d", stride, normalizedSlot, scratchSlot))
	}
	checkSlot(src, stride, kernels.AdaptiveSlot)
	n := len(src) / stride
	var sums []float32
	if n > 0 && &dst[0] != &src[0] {
		sums = dst[len(dst)-n:] // Weigh, range by range, reads them before it writes there
	} else {
		sums = g.scratchOf(n)
	}
	g.findWritten(src, stride)
	takeSlot(sums, src, stride, kernels.AdaptiveSlot, g.written)
	if err := g.AllReduce(ctx, Vec(sums).Named("adaptive sums"), Sum); err != nil {
		return err
	}
	done := 0
	for _, r := range g.written {
		clear(dst[done*stride : r.lo*stride]) // as Weigh does with weights of 0
		kernels.Weigh(dst[r.lo*stride:r.hi*stride], src[r.lo*stride:], sums[r.lo:r.hi], stride, normalizedSlot, scratchSlot)
		done = r.hi
	}
	clear(dst[done*stride:])
	return g.AllReduce(ctx, Vec(dst).Named("weights"), Sum)
}

// sumOfSlot returns the sum over all ranks of one slot of every weight. The result is in the
// group's own memory, and is valid until the next call.
func (g *Group) sumOfSlot(ctx context.Context, w []float32, stride, offset int, name string) ([]float32, error) {
	checkSlot(w, stride, offset)
	sum := g.scratchOf(len(w) / stride)
	g.findWritten(w, stride)
	takeSlot(sum, w, stride, offset, g.written)
	return sum, g.AllReduce(ctx, Vec(sum).Named(name), Sum)
}

// weightRange has the numbers of consecutive weights, hi excluded.
type weightRange struct{ lo, hi int }

// findWritten sets g.written to the ranges of weights outside of which w is 0. Once a table was written throughout, which holds
// after its first average in place, the group no longer asks the system: the question takes 0.1 to 0.7 ms and memory.
func (g *Group) findWritten(w []float32, stride int) {
	all := weightRange{0, len(w) / stride}
	if g.written = append(g.written[:0], all); g.dense || 4*len(w) < mem.TouchedFrom {
		return
	}
	g.written = appendWritten(g.written[:0], w, stride)
	g.dense = len(g.written) == 1 && g.written[0] == all
}

// appendWritten appends the ranges of weights outside of which w is 0 and has never been written. The first average of a job
// with few weights reads only these: the system would provide a page for each other one.
func appendWritten(all []weightRange, w []float32, stride int) []weightRange {
	for lo, hi := range mem.Touched(w) {
		r := weightRange{lo / stride, (hi + stride - 1) / stride}
		if n := len(all); n > 0 && r.lo < all[n-1].hi {
			r.lo = all[n-1].hi // a weight on two pages
		}
		if r.lo < r.hi {
			all = append(all, r)
		}
	}
	return all
}

// takeSlot sets dst to one slot of every weight, which is 0 outside of the written ranges.
func takeSlot(dst, w []float32, stride, offset int, written []weightRange) {
	done := 0
	for _, r := range written {
		clear(dst[done:r.lo])
		for i := r.lo; i < r.hi; i++ {
			dst[i] = w[i*stride+offset]
		}
		done = r.hi
	}
	clear(dst[done:])
}

// checkSlot panics unless w consists of weights of stride floats with a slot offset.
func checkSlot(w []float32, stride, offset int) {
	if stride < 1 || offset < 0 || offset >= stride || len(w)%stride != 0 {
		panic(fmt.Sprintf("BUG: allreduce: slot %d of weights of %d floats, in an array of %d", offset, stride, len(w)))
	}
}

// scratchOf returns n floats of the group's own memory.
func (g *Group) scratchOf(n int) []float32 {
	if cap(g.scratch) < n {
		g.rescratch(n)
	}
	return g.scratch[:n]
}

// rescratch enlarges the group's own memory, and registers it if bytes go over verbs.
func (g *Group) rescratch(n int) {
	old := g.scratch
	g.scratch = make([]float32, n)
	mem.Huge(g.scratch) // each call writes all of it at once, so huge pages save faults
	if g.Verbs() == "" {
		return
	}
	if err := errors.Join(g.Unregister(Vec(old)), g.Register(Vec(g.scratch))); err != nil {
		g.log.Warn("the sums of a slot cannot be registered, they will be copied to be sent", "rank", g.cfg.Rank, "bytes", 4*n, "error", err)
	}
}
