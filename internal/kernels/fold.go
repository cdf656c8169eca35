// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"unsafe"
)

// Fold sums vectors of n bytes: each of dsts becomes ((ops[0] + ops[1]) + ops[2]) + ….
// A vector of dsts may be one of ops; otherwise they must not overlap.
func Fold(kind Kind, dsts, ops []unsafe.Pointer, n int) {
	done := foldFast(kind, dsts, ops, n)
	switch kind {
	case Float32:
		foldPlain[float32](dsts, ops, done, n)
	case Float64:
		foldPlain[float64](dsts, ops, done, n)
	case Int32, Uint32:
		foldPlain[uint32](dsts, ops, done, n)
	case Int64, Uint64:
		foldPlain[uint64](dsts, ops, done, n)
	default:
		panic(fmt.Sprintf("BUG: allreduce: sum of %v", kind))
	}
}

// foldPlain sums the bytes from … n-1, some elements at a time.
func foldPlain[T Number](dsts, ops []unsafe.Pointer, from, n int) {
	const some = 64
	var room [some]T
	size := int(unsafe.Sizeof(room[0]))
	for at := from; at < n; at += some * size {
		sum := room[:min(some, (n-at)/size)]
		copy(sum, elements[T](ops[0], at, len(sum)))
		for _, p := range ops[1:] {
			for i, x := range elements[T](p, at, len(sum)) {
				sum[i] += x
			}
		}
		for _, p := range dsts {
			copy(elements[T](p, at, len(sum)), sum)
		}
	}
}

// elements returns count elements of p, from the byte at on.
func elements[T Number](p unsafe.Pointer, at, count int) []T {
	return unsafe.Slice((*T)(unsafe.Add(p, at)), count)
}
