// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
)

const weightsInTest = 50

// localWeights are a rank's weights in a test: some features have been seen by no
// rank, some by one, some by all.
func localWeights(rank, stride int) []float32 {
	rng := rand.New(rand.NewPCG(uint64(rank), 5))
	w := make([]float32, weightsInTest*stride)
	for i := range weightsInTest {
		if i%5 == 0 || i%5 == 1 && rank != 1 {
			continue
		}
		for k := range stride {
			w[i*stride+k] = float32(rng.NormFloat64())
		}
		w[i*stride+1] = float32(rng.ExpFloat64())
	}
	return w
}

// inOrder is the sum over ranks of x(rank), added as the tree does.
func inOrder(n int, x func(rank int) float32) float32 {
	t := topo.Binary(n)
	var sum func(rank int) float32
	sum = func(rank int) float32 {
		v := x(rank)
		if left, _ := t.Children(rank); left != topo.None {
			v = sum(left) + v
		}
		if _, right := t.Children(rank); right != topo.None {
			v += sum(right)
		}
		return v
	}
	return sum(t.Root())
}

func TestAccumulations(t *testing.T) {
	const n, stride = 5, 4
	locals := make([][]float32, n)
	for r := range locals {
		locals[r] = localWeights(r, stride)
	}
	at := func(i, slot int) func(rank int) float32 {
		return func(rank int) float32 { return locals[rank][i*stride+slot] }
	}
	// into calls what leaves its source whole, and brings the result to w.
	into := func(f func(dst, src []float32) error) func(w []float32) error {
		return func(w []float32) error {
			dst, before := slices.Repeat([]float32{7}, len(w)), slices.Clone(w)
			if err := f(dst, w); err != nil {
				return err
			}
			if !slices.Equal(w, before) {
				return errors.New("the source was changed")
			}
			copy(w, dst)
			return nil
		}
	}
	inBubble(t, n, Config{Schedule: schedule.BinaryTree}, func(t *testing.T, j *testJob, _ *mem.Network) {
		for _, c := range []struct {
			name string
			call func(g *Group, w []float32) error
			want func(rank, i, slot int) float32
		}{
			{
				"sum of slot 2",
				func(g *Group, w []float32) error { return g.Accumulate(ctx, w, stride, 2) },
				func(rank, i, slot int) float32 {
					if slot != 2 {
						return at(i, slot)(rank)
					}
					return inOrder(n, at(i, slot))
				},
			},
			{
				"mean of slot 0",
				func(g *Group, w []float32) error { return g.AccumulateAvg(ctx, w, w, stride, 0) },
				func(rank, i, slot int) float32 {
					if slot != 0 {
						return at(i, slot)(rank)
					}
					return inOrder(n, at(i, slot)) / n
				},
			},
			{
				"mean of slot 0, into",
				func(g *Group, w []float32) error {
					return into(func(dst, src []float32) error { return g.AccumulateAvg(ctx, dst, src, stride, 0) })(w)
				},
				func(rank, i, slot int) float32 {
					if slot != 0 {
						return at(i, slot)(rank)
					}
					return inOrder(n, at(i, slot)) / n
				},
			},
			{
				"weighted, normalised, into",
				func(g *Group, w []float32) error {
					return into(func(dst, src []float32) error { return g.AccumulateWeightedAvg(ctx, dst, src, stride, 2, 0) })(w)
				},
				weightedWant(n, 2, at),
			},
			{"weighted, normalised", func(g *Group, w []float32) error { return g.AccumulateWeightedAvg(ctx, w, w, stride, 2, 0) }, weightedWant(n, 2, at)},
			{"weighted", func(g *Group, w []float32) error { return g.AccumulateWeightedAvg(ctx, w, w, stride, 0, 0) }, weightedWant(n, 0, at)},
		} {
			j.each(func(rank int) error {
				w := slices.Clone(locals[rank])
				if err := c.call(j.groups[rank], w); err != nil {
					return err
				}
				for i := range weightsInTest {
					for slot := range stride {
						if got, want := w[i*stride+slot], c.want(rank, i, slot); got != want {
							return fmt.Errorf("%s: weight %d, slot %d: got %v, want %v", c.name, i, slot, got, want)
						}
					}
				}
				return nil
			})
		}
	})
}

// weightedWant is vw's weighted average (vw's accumulate_weighted_avg), one
// weight at a time.
func weightedWant(n, normalized int, at func(i, slot int) func(rank int) float32) func(rank, i, slot int) float32 {
	return func(_, i, slot int) float32 {
		total := inOrder(n, at(i, 1))
		return inOrder(n, func(rank int) float32 {
			v := at(i, slot)(rank)
			switch {
			case total <= 0 && slot == 0:
				return 0
			case total > 0 && (slot == 0 || slot == 1 || slot == normalized):
				return v * (at(i, 1)(rank) / total)
			}
			return v
		})
	}
}
