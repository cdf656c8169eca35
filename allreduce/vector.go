// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"unsafe"

	"github.com/gvw-project/gvw/internal/kernels"
)

// Vector is a typed view of memory that belongs to the caller. A collective reads and writes
// the memory in place until it returns. Vec and Named allocate nothing.
type Vector struct {
	data unsafe.Pointer
	n    int
	kind kernels.Kind
	name string
}

// Vec returns a view of s.
func Vec[T Element](s []T) Vector {
	return Vector{data: unsafe.Pointer(unsafe.SliceData(s)), n: len(s), kind: kernels.KindOf[T]()}
}

// Named returns the same view with a name such as "gradient". Messages show it, and it must be
// equal on all ranks of a collective.
func (v Vector) Named(name string) Vector {
	v.name = name
	return v
}

// Len returns the number of elements.
func (v Vector) Len() int { return v.n }

// bytes returns the memory as bytes. On a little-endian machine, which Validate demands, these
// are the bytes on the wire.
func (v Vector) bytes() []byte {
	return unsafe.Slice((*byte)(v.data), v.n*v.kind.Size())
}

// overlaps reports whether v and o share memory.
func (v Vector) overlaps(o Vector) bool {
	a, b := uintptr(v.data), uintptr(o.data)
	return v.n > 0 && o.n > 0 && a < b+uintptr(o.n*o.kind.Size()) && b < a+uintptr(v.n*v.kind.Size())
}
