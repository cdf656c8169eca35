// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/sampled"
)

// sparseTable returns weights of which few are written, on some pages of 4 KiB and across the borders of pages.
func sparseTable(rank, weights, stride int) []float32 {
	w := make([]float32, weights*stride)
	for k, at := range []int{0, 1023, 1024, 5000, 1<<19 + 7, 1<<20 - 9, len(w) - 1} {
		if k%3 != rank {
			w[at] = float32(k+1) + float32(rank)/8
			w[at/stride*stride+1] = 1 + float32(rank)
		}
	}
	return w
}

// The weights outside of the ranges are 0, and takeSlot takes every weight once, also where a page ends within one.
func TestAppendWritten(t *testing.T) {
	for _, stride := range []int{1, 2, 3, 4} {
		const weights = 1 << 21
		w := make([]float32, weights*stride)
		for _, at := range []int{1, 1023, 1024, 1025, 1 << 20, len(w) - 1} {
			w[at] = float32(at)
		}
		written, end := appendWritten(nil, w, stride), 0
		for _, r := range written {
			if r.lo < end || r.hi <= r.lo || r.hi > weights {
				t.Fatalf("stride %d: range %+v after one that ends at %d, of %d", stride, r, end, weights)
			}
			end = r.hi
		}
		for slot := range stride {
			got, want := slices.Repeat([]float32{7}, weights), make([]float32, weights)
			for i := range want {
				want[i] = w[i*stride+slot]
			}
			if takeSlot(got, w, stride, slot, written); !slices.Equal(got, want) {
				t.Errorf("stride %d, slot %d: other values than those of the table", stride, slot)
			}
		}
	}
}

// TestAveragesOfAWrittenTable: the system is asked for the pages of a table only until it was written throughout, since each
// question allocates memory.
func TestAveragesOfAWrittenTable(t *testing.T) {
	if sampled.UnderRace {
		t.Skip("the race detector allocates")
	}
	j := newTCPJob(t, 1, Config{})
	g := j.groups[0]
	average := func(w []float32) float64 {
		once := func() {
			if err := g.AccumulateWeightedAvg(ctx, w, w, 4, 0, 0); err != nil {
				t.Fatal(err)
			}
		}
		once() // writes every page; AllocsPerRun begins with a further run, which finds that
		return testing.AllocsPerRun(10, once)
	}
	small, table := average(make([]float32, 1<<10)), sparseTable(0, 1<<20, 4)
	large := average(table)
	for tries := 1; tries < 10 && large > small; tries++ {
		large = min(large, average(table)) // heartbeats allocate, too, and more of them in a slow measurement
	}
	if large > small || !g.dense {
		t.Errorf("%v allocations for an average of 16 MiB, %v for one of 4 KiB; all written: %v", large, small, g.dense)
	}
}

// An average of tables with pages that were never written has the bits of one of tables whose every page was written.
func TestAverageOfUnwrittenPages(t *testing.T) {
	const ranks, weights = 2, 1 << 19
	for _, stride := range []int{2, 3, 4} {
		inBubble(t, ranks, Config{Schedule: schedule.BinaryTree}, func(t *testing.T, j *testJob, _ *mem.Network) {
			j.each(func(rank int) error {
				average := func(dst, src []float32) error {
					return j.groups[rank].AccumulateWeightedAvg(t.Context(), dst, src, stride, 0, 0)
				}
				want := slices.Clone(sparseTable(rank, weights, stride)) // writes every page
				if err := average(want, want); err != nil {
					return err
				}
				got := slices.Repeat([]float32{7}, len(want))
				if err := average(got, sparseTable(rank, weights, stride)); err != nil {
					return err
				}
				for i := range want {
					if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
						return fmt.Errorf("stride %d: float %d is %v, want %v", stride, i, got[i], want[i])
					}
				}
				return nil
			})
		})
	}
}
