// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"unsafe"
)

// Number is a type of element that can be reduced.
type Number interface {
	float32 | float64 | int32 | int64 | uint32 | uint64
}

// Combine sets dst[i] = a[i] op b[i] for vectors of bytes of the same length.
// dst may be a or b.
func Combine(kind Kind, op Op, dst, a, b []byte) {
	switch {
	case len(dst) == 0:
	case op == Sum && kind != Byte:
		to, of := [1]unsafe.Pointer{unsafe.Pointer(&dst[0])}, [2]unsafe.Pointer{unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0])}
		Fold(kind, to[:], of[:], len(dst))
	case op >= FirstOwn:
		Lookup(op).Join(dst, a, b)
	default:
		CombineKind(kind, op, dst, a, b)
	}
}

// CombineKind is Combine for the built-in operations, which exist for all kinds.
func CombineKind(kind Kind, op Op, dst, a, b []byte) {
	switch kind {
	case Float32:
		reduce(op, View[float32](dst), View[float32](a), View[float32](b))
	case Float64:
		reduce(op, View[float64](dst), View[float64](a), View[float64](b))
	case Int32:
		reduce(op, View[int32](dst), View[int32](a), View[int32](b))
	case Int64:
		reduce(op, View[int64](dst), View[int64](a), View[int64](b))
	case Uint32:
		reduce(op, View[uint32](dst), View[uint32](a), View[uint32](b))
	case Uint64:
		reduce(op, View[uint64](dst), View[uint64](a), View[uint64](b))
	default:
		panic(fmt.Sprintf("BUG: allreduce: %v of %v", op, kind))
	}
}

func reduce[T Number](op Op, dst, a, b []T) {
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
