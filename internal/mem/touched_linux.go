// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"bytes"
	"encoding/binary"
	"io"
	"iter"
	"os"
	"strconv"
	"unsafe"
)

// TouchedFrom is the least number of bytes of a table whose pages are worth a question to the system.
const TouchedFrom = 4 << 20

// Bits of an entry of /proc/self/pagemap: the page is in memory, or in swap space.
const present, swapped = 1 << 63, 1 << 62

// Touched yields the ranges [lo, hi) of s outside of which it has only been allocated, and is 0. A scan of those reads no
// page that nothing was written to: a large table with few weights has mostly such pages, and the system would provide each
// of them. Where the system does not tell, s is short, or its memory is shared or that of a file, the range is all of s.
func Touched(s []float32) iter.Seq2[int, int] {
	return func(yield func(lo, hi int) bool) {
		if 4*len(s) < TouchedFrom || !anonymous(s) {
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

// anonymous reports whether s is memory of this process only. The page map does not have the pages of a file, nor those of
// shared memory, that other processes have written or that the system has written back.
func anonymous(s []float32) bool {
	maps, err := os.ReadFile("/proc/self/maps")
	begin := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(s))))
	return err == nil && anonymousIn(maps, begin, begin+4*uint64(len(s)))
}

// anonymousIn reports whether the addresses from begin to end are in private mappings without a file.
func anonymousIn(maps []byte, begin, end uint64) bool {
	for line := range bytes.Lines(maps) {
		f := bytes.Fields(line) // addresses, permissions, offset, device, inode
		if len(f) < 5 {
			return false
		}
		from, to, _ := bytes.Cut(f[0], []byte("-"))
		lo, err1 := strconv.ParseUint(string(from), 16, 64)
		hi, err2 := strconv.ParseUint(string(to), 16, 64)
		switch {
		case err1 != nil || err2 != nil:
			return false
		case hi <= begin:
			continue
		case lo > begin || !bytes.HasSuffix(f[1], []byte("p")) || string(f[4]) != "0":
			return false
		case hi >= end:
			return true
		}
		begin = hi
	}
	return false
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
