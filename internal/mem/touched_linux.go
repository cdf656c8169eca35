// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"encoding/binary"
	"io"
	"iter"
	"os"
	"unsafe"
)

// TouchedFrom is the least number of bytes of a table whose pages are worth a question to the system.
const TouchedFrom = 4 << 20

// Bits of an entry of /proc/self/pagemap: the page is in memory, or in swap space.
const present, swapped = 1 << 63, 1 << 62

// Touched yields the ranges [lo, hi) of s outside of which it has only been allocated, and is 0. A scan of those reads no
// page that nothing was written to: a large table with few weights has mostly such pages, and the system would provide each
// of them. Where the system does not tell, or s is short, the range is all of s.
func Touched(s []float32) iter.Seq2[int, int] {
	return func(yield func(lo, hi int) bool) {
		if 4*len(s) < TouchedFrom {
			yield(0, len(s))
			return
		}
		f, err := os.Open("/proc/self/pagemap")
		if err != nil {
			yield(0, len(s))
			return
		}
		defer f.Close()
		touched(f, s, uintptr(os.Getpagesize()), yield)
	}
}

// touched yields the ranges whose pages have a bit in the page map.
func touched(pagemap io.ReaderAt, s []float32, page uintptr, yield func(lo, hi int) bool) {
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	end := begin + 4*uintptr(len(s))
	entries := make([]byte, 64<<10)
	lo := -1 // of the range that is not complete; -1: there is none
	for at := begin / page; at*page < end; at += uintptr(len(entries) / 8) {
		part := entries[:min(uintptr(len(entries)), 8*((end-1)/page+1-at))]
		if _, err := pagemap.ReadAt(part, int64(8*at)); err != nil {
			if lo < 0 {
				lo = place(at*page, begin, end)
			}
			break // the rest is one range
		}
		for k := 0; k < len(part); k += 8 {
			written := binary.NativeEndian.Uint64(part[k:])&(present|swapped) != 0
			if written == (lo >= 0) {
				continue
			}
			here := place((at+uintptr(k)/8)*page, begin, end)
			if written {
				lo = here
				continue
			}
			if !yield(lo, here) {
				return
			}
			lo = -1
		}
	}
	if lo >= 0 {
		yield(lo, len(s))
	}
}

// place returns the number of the element at an address, within the slice from begin to end.
func place(address, begin, end uintptr) int {
	return int((min(max(address, begin), end) - begin) / 4)
}
