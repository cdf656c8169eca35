// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package mem

import (
	"iter"
	"math"
)

// TouchedFrom is the least number of bytes of a table for which Touched asks the system.
const TouchedFrom = math.MaxInt

// Touched yields the ranges [lo, hi) of s outside of which it has only been allocated, and is 0. This system does not
// tell: the range is all of s.
func Touched(s []float32) iter.Seq2[int, int] {
	return func(yield func(lo, hi int) bool) { yield(0, len(s)) }
}
