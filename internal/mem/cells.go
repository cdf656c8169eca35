// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"fmt"
	"unsafe"
)

// Cells returns the same memory as s, four floats at a time. A learner that
// keeps four floats per weight then reaches all of them behind one bounds
// check. It panics if len(s) is no multiple of four.
func Cells(s []float32) [][4]float32 {
	if len(s)%4 != 0 {
		panic(fmt.Sprintf("BUG: mem: %d floats are no whole number of cells of 4", len(s)))
	}
	// An array of four floats has the size and the alignment of its parts.
	return unsafe.Slice((*[4]float32)(unsafe.Pointer(unsafe.SliceData(s))), len(s)/4)
}
