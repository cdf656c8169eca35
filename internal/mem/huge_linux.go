// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"syscall"
	"unsafe"
)

// adviseHuge requests huge pages for s. A kernel without them refuses; the first accesses
// to the table are then slower.
func adviseHuge(s []float32) {
	// Madvise takes bytes. The Go runtime aligns an object of this size to its
	// own pages of 8 KiB, a multiple of the kernel's 4 KiB; with larger kernel
	// pages the start may be unaligned and the call fails, harmlessly.
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), 4*len(s))
	_ = syscall.Madvise(b, syscall.MADV_HUGEPAGE)
}
