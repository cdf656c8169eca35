// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"unsafe"
)

// Element is a type of element of vectors. Bytes can be moved but not reduced.
type Element interface {
	float32 | float64 | int32 | int64 | uint32 | uint64 | byte
}

// Kind is the type of a vector's elements. The numbers are part of the wire protocol.
type Kind uint8

// The kinds of elements.
const (
	Float32 Kind = 1
	Float64 Kind = 2
	Int32   Kind = 3
	Int64   Kind = 4
	Uint32  Kind = 5
	Uint64  Kind = 6
	Byte    Kind = 7
)

var kinds = [...]struct {
	name string
	size int
}{
	Float32: {"float32", 4}, Float64: {"float64", 8},
	Int32: {"int32", 4}, Int64: {"int64", 8},
	Uint32: {"uint32", 4}, Uint64: {"uint64", 8},
	Byte: {"byte", 1},
}

func (k Kind) String() string {
	if k == 0 || int(k) >= len(kinds) {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kinds[k].name
}

// Size returns the number of bytes of an element.
func (k Kind) Size() int {
	if k == 0 || int(k) >= len(kinds) {
		return 0
	}
	return kinds[k].size
}

// KindOf returns the kind of T.
func KindOf[T Element]() Kind {
	var zero T
	switch any(zero).(type) {
	case float32:
		return Float32
	case float64:
		return Float64
	case int32:
		return Int32
	case int64:
		return Int64
	case uint32:
		return Uint32
	case uint64:
		return Uint64
	}
	return Byte
}

// Bytes returns the memory of s.
func Bytes[T Element](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*KindOf[T]().Size())
}

// View returns b as elements. Its address must be a multiple of the
// element's size, as vectors and staging buffers are cut at such multiples.
func View[T Element](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}
