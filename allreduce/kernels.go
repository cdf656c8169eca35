// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// number is what can be reduced.
type number interface {
	float32 | float64 | int32 | int64 | uint32 | uint64
}

// combine sets dst[i] = a[i] op b[i] over whole vectors of bytes of one length.
// dst may be a or b.
//
// Sums of floats, which is nearly all there is to do, go through gonum's
// vector kernel: one times an operand is exact, so the bits are those of the loop.
func combine(kind Kind, op Op, dst, a, b []byte) {
	switch {
	case len(dst) == 0:
	case op == Sum && kind == Float32:
		blas32.Axpy(1, vector32(view[float32](addend(dst, a, b))), vector32(view[float32](dst)))
	case op == Sum && kind == Float64:
		blas64.Axpy(1, vector64(view[float64](addend(dst, a, b))), vector64(view[float64](dst)))
	case op >= firstOwn:
		op.own().join(dst, a, b)
	default:
		combineKind(kind, op, dst, a, b)
	}
}

// addend is what is to be added to dst. Where dst is no operand, it becomes the first:
// two passes of a vector kernel are faster than one of a loop.
func addend(dst, a, b []byte) []byte {
	switch {
	case &dst[0] == &a[0]:
		return b
	case &dst[0] == &b[0]:
		return a
	}
	copy(dst, a)
	return b
}

func combineKind(kind Kind, op Op, dst, a, b []byte) {
	switch kind {
	case Float32:
		reduce(op, view[float32](dst), view[float32](a), view[float32](b))
	case Float64:
		reduce(op, view[float64](dst), view[float64](a), view[float64](b))
	case Int32:
		reduce(op, view[int32](dst), view[int32](a), view[int32](b))
	case Int64:
		reduce(op, view[int64](dst), view[int64](a), view[int64](b))
	case Uint32:
		reduce(op, view[uint32](dst), view[uint32](a), view[uint32](b))
	case Uint64:
		reduce(op, view[uint64](dst), view[uint64](a), view[uint64](b))
	default:
		panic(fmt.Sprintf("BUG: allreduce: %v of %v", op, kind))
	}
}

func reduce[T number](op Op, dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	switch op {
	case Sum:
		for i := range dst {
			dst[i] = a[i] + b[i]
		}
	case Min:
		for i := range dst {
			dst[i] = min(a[i], b[i])
		}
	case Max:
		for i := range dst {
			dst[i] = max(a[i], b[i])
		}
	case Product:
		for i := range dst {
			dst[i] = a[i] * b[i]
		}
	default:
		panic(fmt.Sprintf("BUG: allreduce: %v", op))
	}
}

func vector32(s []float32) blas32.Vector { return blas32.Vector{N: len(s), Inc: 1, Data: s} }
func vector64(s []float64) blas64.Vector { return blas64.Vector{N: len(s), Inc: 1, Data: s} }
