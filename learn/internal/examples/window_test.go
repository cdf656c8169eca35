// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
)

type recycled map[*feature.Batch]int

func (r recycled) Recycle(b *feature.Batch) { r[b]++ }

// visitAll runs a pass over batches of the given sizes and returns the labels,
// which number the examples, in the order of their visits.
func visitAll(t *rapid.T, c ShuffleConfig, pass int, sizes []int) []int {
	c.Rank = func() int { return 0 }
	w, back := c.window(pass), recycled{}
	var order []int
	f := func(_ *feature.Batch, ex *feature.Example, held bool) error {
		if n := int(ex.Label); held != (n%10 == 0) {
			t.Errorf("example %d: held %v", n, held)
		}
		order = append(order, int(ex.Label))
		return nil
	}
	n, batches := 0, 0
	for _, size := range sizes {
		b := &feature.Batch{Examples: make([]feature.Example, size)}
		for i := range b.Examples {
			n++
			b.Examples[i].Label = float32(n)
			if err := w.add(back, b, &b.Examples[i], n%10 == 0, f); err != nil {
				t.Fatal(err)
			}
		}
		if size > 0 {
			batches++
		}
	}
	if err := w.flush(back, f); err != nil {
		t.Fatal(err)
	}
	if len(back) != batches {
		t.Errorf("%d of %d batches came back", len(back), batches)
	}
	for _, times := range back {
		if times != 1 {
			t.Errorf("a batch came back %d times", times)
		}
	}
	return order
}

// Every example is visited once, within its window. The order depends on seed and pass, and not
// on the batches of the examples.
func TestWindowIsAPermutation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(0, 30), 1, 8).Draw(rt, "sizes")
		total := 0
		for _, n := range sizes {
			total += n
		}
		perWindow := rapid.IntRange(1, 50).Draw(rt, "window")
		c := ShuffleConfig{Memory: 64 * perWindow, Seed: rapid.Uint64().Draw(rt, "seed")}
		order := visitAll(rt, c, 1, sizes)
		for lo := 0; lo < total; lo += perWindow {
			part := slices.Sorted(slices.Values(order[lo:min(lo+perWindow, total)]))
			for i, n := range part {
				if n != lo+i+1 {
					rt.Fatalf("examples of the window from %d: %v", lo+1, part)
				}
			}
		}
		if again := visitAll(rt, c, 1, []int{total}); !slices.Equal(order, again) {
			rt.Errorf("in other batches: %v, before %v", again, order)
		}
	})
}

func TestPassesAndSeedsShuffleOtherwise(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := ShuffleConfig{Seed: rapid.Uint64Range(0, 1000).Draw(rt, "seed")}
		first := visitAll(rt, c, 1, []int{100})
		if slices.Equal(first, visitAll(rt, c, 2, []int{100})) {
			rt.Error("two passes have one order")
		}
		c.Seed++
		if slices.Equal(first, visitAll(rt, c, 1, []int{100})) || slices.IsSorted(first) {
			rt.Error("two seeds have one order")
		}
	})
}
