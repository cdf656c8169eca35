// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

package kernels

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// foldStep is the number of bytes that the kernels of fold_amd64.s process at a time.
const foldStep = 128

var hasFold = cpu.X86.HasAVX2

//go:noescape
func foldFloat32(dsts *unsafe.Pointer, m int, ops *unsafe.Pointer, k, n int)

//go:noescape
func foldFloat64(dsts *unsafe.Pointer, m int, ops *unsafe.Pointer, k, n int)

//go:noescape
func foldInt32(dsts *unsafe.Pointer, m int, ops *unsafe.Pointer, k, n int)

//go:noescape
func foldInt64(dsts *unsafe.Pointer, m int, ops *unsafe.Pointer, k, n int)

// foldFast sums as much as the kernels can, and returns the number of bytes.
func foldFast(kind Kind, dsts, ops []unsafe.Pointer, n int) int {
	if !hasFold || n < foldStep {
		return 0
	}
	n -= n % foldStep
	switch kind {
	case Float32:
		foldFloat32(&dsts[0], len(dsts), &ops[0], len(ops), n)
	case Float64:
		foldFloat64(&dsts[0], len(dsts), &ops[0], len(ops), n)
	case Int32, Uint32:
		foldInt32(&dsts[0], len(dsts), &ops[0], len(ops), n)
	case Int64, Uint64:
		foldInt64(&dsts[0], len(dsts), &ops[0], len(ops), n)
	default:
		return 0
	}
	return n
}
