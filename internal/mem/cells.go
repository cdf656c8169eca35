// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"fmt"
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
