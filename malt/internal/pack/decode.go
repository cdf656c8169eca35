// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/internal/kernels"
)

// ErrUpdate is wrapped by the errors of updates that do not decode.
var ErrUpdate = errors.New("pack: malformed update")

// Update is a decoded update. Its slices are valid until the next call of the decoder, or
// until the received bytes change.
type Update[T Element] struct {
	Indices []uint32 // the entries to which Values belong; nil: all entries, in order
	Values  []T
}

// Decoder reads the updates of one vector. It is not safe for concurrent use.
type Decoder[T Element] struct {
	length int
	values []T
}

// NewDecoder returns the decoder of a vector with length entries.
func NewDecoder[T Element](length int) *Decoder[T] { return &Decoder[T]{length: length} }

// Decode reads an update, which begins at an address that is a multiple of 8. It fails on bytes
// that no encoder of this vector writes. The values may be any, NaN too.
func (d *Decoder[T]) Decode(b []byte) (u Update[T], err error) {
	if len(b) < headSize {
		return u, fmt.Errorf("%w: got %d bytes, want at least %d", ErrUpdate, len(b), headSize)
	}
	h := head{kind: b[0], elem: b[1], code: Code(b[2]), length: binary.LittleEndian.Uint64(b[8:]), count: binary.LittleEndian.Uint64(b[16:])}
	switch {
	case h.elem != elemOf[T]():
		return u, fmt.Errorf("%w: got element type %d, want %d", ErrUpdate, h.elem, elemOf[T]())
	case h.length != uint64(d.length):
		return u, fmt.Errorf("%w: got a vector of %d entries, want %d", ErrUpdate, h.length, d.length)
	case h.count > h.length || h.kind == dense && h.count != h.length:
		return u, fmt.Errorf("%w: got %d values for %d entries", ErrUpdate, h.count, h.length)
	case h.kind != dense && h.kind != sparse || int(h.code) >= len(codeNames) || [5]byte(b[3:8]) != [5]byte{}:
		return u, fmt.Errorf("%w: got kind %d, code %d", ErrUpdate, h.kind, h.code)
	}
	indices, values := h.sizes()
	if uint64(len(b)-headSize) != indices+values {
		return u, fmt.Errorf("%w: got %d bytes, want %d for %d values", ErrUpdate, len(b), headSize+indices+values, h.count)
	}
	b = b[headSize:]
	if h.kind == sparse {
		u.Indices = kernels.View[uint32](b[:4*h.count])
		for _, i := range u.Indices {
			if uint64(i) >= h.length {
				return Update[T]{}, fmt.Errorf("%w: got index %d, want less than %d", ErrUpdate, i, h.length)
			}
		}
		b = b[indices:]
	}
	if h.code == Plain {
		u.Values = kernels.View[T](b)
	} else {
		u.Values = d.code(h.code, b, int(h.count))
	}
	return u, nil
}

// code decodes compressed values into the decoder's memory.
func (d *Decoder[T]) code(c Code, b []byte, count int) []T {
	d.values = d.values[:0]
	if c == F16 {
		for i := range count {
			d.values = append(d.values, T(fromHalf(binary.LittleEndian.Uint16(b[2*i:]))))
		}
		return d.values
	}
	codes := b[4*((count+blockSize-1)/blockSize):]
	for i := range count {
		scale := math.Float32frombits(binary.LittleEndian.Uint32(b[4*(i/blockSize):]))
		d.values = append(d.values, T(float32(int8(codes[i]))*scale))
	}
	return d.values
}
