// SPDX-License-Identifier: Apache-2.0

package mem

import "unsafe"

// Page is the size in bytes of a usual page.
const Page = 4096

// hugeFrom is the least size in bytes for huge pages: in smaller tables the parts that do not
// fill a huge page waste too much.
const hugeFrom = 4 << 20

// Huge requests huge pages for s, which should not have
// been accessed yet. It never fails: without huge pages, the pages stay small.
func Huge[T float32 | uint64](s []T) {
	if n := len(s) * int(unsafe.Sizeof(T(0))); n >= hugeFrom {
		// The Go runtime aligns an object of this size to its own pages of 8 KiB, a multiple of the kernel's 4 KiB. With
		// larger kernel pages the start may be unaligned, and the request fails.
		adviseHuge(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), n))
	}
}
