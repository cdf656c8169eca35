// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"fmt"
	"unsafe"
)

// number is what can be reduced.
type number interface {
	float32 | float64 | int32 | int64 | uint32 | uint64
}

// combine sets dst[i] = a[i] op b[i] over whole vectors of bytes of one length.
// dst may be a or b.
func combine(kind Kind, op Op, dst, a, b []byte) {
	switch {
	case len(dst) == 0:
	case op == Sum && kind != Byte:
		to, of := [1]unsafe.Pointer{unsafe.Pointer(&dst[0])}, [2]unsafe.Pointer{unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0])}
		fold(kind, to[:], of[:], len(dst))
	case op >= firstOwn:
		op.own().join(dst, a, b)
	default:
		combineKind(kind, op, dst, a, b)
	}
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
