// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"unsafe"

	"github.com/gvw-project/gvw/internal/kernels"
)

// Vector is a typed view of memory that belongs to the caller: a collective
// reads and writes it in place until it returns. Making one allocates nothing.
type Vector struct {
	data unsafe.Pointer
	n    int
	kind kernels.Kind
	name string
}

// Vec is a view of s.
func Vec[T Element](s []T) Vector {
	return Vector{data: unsafe.Pointer(unsafe.SliceData(s)), n: len(s), kind: kernels.KindOf[T]()}
}

// Named is the same view with a name for messages and for the check that
// all ranks mean the same: "gradient".
func (v Vector) Named(name string) Vector {
	v.name = name
	return v
}

// Len is the number of elements.
func (v Vector) Len() int { return v.n }

// bytes is the memory as it crosses the wire, on a little-endian machine.
func (v Vector) bytes() []byte {
	return unsafe.Slice((*byte)(v.data), v.n*v.kind.Size())
}

// overlaps says whether v and o share memory.
func (v Vector) overlaps(o Vector) bool {
	a, b := uintptr(v.data), uintptr(o.data)
	return v.n > 0 && o.n > 0 && a < b+uintptr(o.n*o.kind.Size()) && b < a+uintptr(v.n*v.kind.Size())
}
