// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"fmt"
	"math"
	"unsafe"
)

// Cells returns the memory of s in groups of four floats. A learner with
// four floats per weight then accesses all of them after one bounds
// check. It panics if len(s) is not a multiple of four.
func Cells(s []float32) [][4]float32 {
	if len(s)%4 != 0 {
		panic(fmt.Sprintf("BUG: mem: %d floats: want a multiple of 4", len(s)))
	}
	// An array of four floats has the size and the alignment of its parts.
	return unsafe.Slice((*[4]float32)(unsafe.Pointer(unsafe.SliceData(s))), len(s)/4)
}

// Floats returns the memory of s as numbers with the same bits, for what moves vectors of float32 and does not look at
// them.
func Floats(s []uint32) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// Zeros returns the number of elements at the beginning of s whose bits are all 0. Tables that are mostly 0
// are scanned several times as fast with it.
func Zeros(s []float32) int {
	const step = 16 // floats looked at together
	n := 0
	if words := s; uintptr(unsafe.Pointer(unsafe.SliceData(s)))%8 == 0 {
		for ; len(words) >= step; words = words[step:] {
			w := (*[step / 2]uint64)(unsafe.Pointer(unsafe.SliceData(words)))
			if w[0]|w[1]|w[2]|w[3]|w[4]|w[5]|w[6]|w[7] != 0 {
				break
			}
			n += step
		}
	}
	for n < len(s) && math.Float32bits(s[n]) == 0 {
		n++
	}
	return n
}
