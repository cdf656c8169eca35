// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"encoding/binary"

	"github.com/gvw-project/gvw/internal/kernels"
)

// AppendHead appends what precedes the values in an update of all values, and returns the rest as a view of the
// values. The view is nil if the whole update was appended, because it is compressed. It fails as AppendDense does.
func (e *Encoder[T]) AppendHead(dst []byte, values []T) (head, view []byte, err error) {
	if e.format.lossy() || len(values) != e.length {
		head, err = e.AppendDense(dst, values)
		return head, nil, err
	}
	return e.denseHead(Plain).append(dst), kernels.Bytes(values), nil
}

// denseHead returns the head of an update of all values.
func (e *Encoder[T]) denseHead(c Code) head {
	return head{kind: dense, elem: elemOf[T](), code: c, length: uint64(e.length), count: uint64(e.length)}
}

// View decodes an update of all values in plain code whose bytes may change meanwhile: its values may change,
// its length does not. ok is false for all other updates, whose bytes are to be copied first and given to Decode.
func (d *Decoder[T]) View(b []byte) (u Update[T], ok bool) {
	if len(b) < headSize {
		return u, false
	}
	kind, length := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	want := head{kind: dense, elem: elemOf[T](), code: Plain, length: uint64(d.length), count: uint64(d.length)}
	_, values := want.sizes()
	if kind != uint64(want.kind)|uint64(want.elem)<<8|uint64(want.code)<<16 || length != want.length || uint64(len(b)-headSize) != values {
		return u, false
	}
	return Update[T]{Values: kernels.View[T](b[headSize:])}, true
}

// appendPlain appends the bytes of values or indices, little-endian as the memory of all systems that the product supports.
func appendPlain[T kernels.Element](dst []byte, values []T) []byte {
	return append(dst, kernels.Bytes(values)...)
}
