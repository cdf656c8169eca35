// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"cmp"
	"math/bits"
	"slices"
)

// vw sorts with the C++ library, which leaves features of the same index and
// value in an order that is an accident of its algorithm, and which of them are
// next to each other decides what --feature_limit takes as one. introSort is that
// algorithm as GNU's library has it (vw's builds for Linux): quicksort by the
// median of three down to short stretches, then insertion.

// short is a stretch that is left to insertion.
const short = 16

func introSort(fs []wholeFeature) {
	if len(fs) > short {
		quickSort(fs, 2*(bits.Len(uint(len(fs)))-1))
		insertionSort(fs[:short])
		for i := short; i < len(fs); i++ {
			sink(fs, i)
		}
		return
	}
	insertionSort(fs)
}

// before is vw's order.
func before(f, g *wholeFeature) bool {
	return f.Index < g.Index || f.Index == g.Index && f.Value < g.Value
}

// quickSort leaves stretches of short and fewer unsorted, in which order does
// not go beyond them.
func quickSort(fs []wholeFeature, depth int) {
	for len(fs) > short {
		if depth == 0 { // as good as never: a heap in C++
			slices.SortStableFunc(fs, func(f, g wholeFeature) int {
				return cmp.Or(cmp.Compare(f.Index, g.Index), cmp.Compare(f.Value, g.Value))
			})
			return
		}
		depth--
		cut := partition(fs)
		quickSort(fs[cut:], depth)
		fs = fs[:cut]
	}
}

// partition moves the median of the second, the middle and the last to the front,
// and what is less than it in front of the rest. It returns where that begins.
func partition(fs []wholeFeature) int {
	a, b, c := 1, len(fs)/2, len(fs)-1
	if !before(&fs[a], &fs[b]) {
		a, b = b, a
	}
	m := b // of a ≤ b and c
	switch {
	case before(&fs[b], &fs[c]):
	case before(&fs[a], &fs[c]):
		m = c
	default:
		m = a
	}
	fs[0], fs[m] = fs[m], fs[0]
	lo, hi := 1, len(fs)
	for {
		for lo < len(fs) && before(&fs[lo], &fs[0]) {
			lo++
		}
		hi--
		for hi > 0 && before(&fs[0], &fs[hi]) {
			hi--
		}
		if lo >= hi {
			return lo
		}
		fs[lo], fs[hi] = fs[hi], fs[lo]
		lo++
	}
}

func insertionSort(fs []wholeFeature) {
	for i := range fs {
		sink(fs, i)
	}
}

// sink moves fs[i] down behind the last one that is not above it.
func sink(fs []wholeFeature, i int) {
	f := fs[i]
	for ; i > 0 && before(&f, &fs[i-1]); i-- {
		fs[i] = fs[i-1]
	}
	fs[i] = f
}
