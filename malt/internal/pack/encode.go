// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Encoder writes the updates of one vector. It keeps what compression has dropped. It is
// not safe for concurrent use.
type Encoder[T Element] struct {
	format   Format
	length   int
	residual []T // what the updates so far have dropped; nil if nothing can be
	sum      []T // values and residual
	top      selection[T]
	indices  []uint32
}

// NewEncoder returns the encoder of a vector with length entries.
func NewEncoder[T Element](f Format, length int) (*Encoder[T], error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if length < 1 {
		return nil, fmt.Errorf("pack: a vector of %d entries: want at least 1", length)
	}
	e := &Encoder[T]{format: f, length: length}
	if f.lossy() && !f.NoFeedback {
		e.residual = make([]T, length)
	}
	return e, nil
}

// Reset forgets what has been dropped, as is right after the receivers got a whole model.
func (e *Encoder[T]) Reset() { clear(e.residual) }

// AppendDense appends an update of all values, which number the vector's length. With
// Format.Top the update is sparse. It fails if a value that is to be compressed is not finite.
func (e *Encoder[T]) AppendDense(dst []byte, values []T) ([]byte, error) {
	if len(values) != e.length {
		return dst, fmt.Errorf("pack: got %d values for a vector of %d entries", len(values), e.length)
	}
	if !e.format.lossy() {
		dst = e.denseHead(Plain).append(dst)
		return appendPlain(dst, values), nil
	}
	if e.residual != nil {
		e.sum = append(e.sum[:0], values...)
		for i := range e.sum {
			e.sum[i] += e.residual[i]
		}
		values = e.sum
	}
	if err := finite(values, nil); err != nil {
		return dst, err
	}
	if k := e.format.Top; k > 0 && k < len(values) {
		e.indices = e.top.largest(e.indices[:0], values, k)
		copy(e.residual, values)
		e.sum = gatherInto(e.sum, values, e.indices)
		return e.appendChosen(dst, e.indices, e.sum), nil
	}
	dst = e.denseHead(e.format.Code).append(dst)
	return appendCode(dst, e.format.Code, values, func(i int, sent T) {
		if e.residual != nil {
			e.residual[i] = values[i] - sent
		}
	}), nil
}

// AppendSparse appends an update of some entries. Each index occurs once and is less than the
// vector's length. It fails if a value that is to be compressed is not finite.
func (e *Encoder[T]) AppendSparse(dst []byte, indices []uint32, values []T) ([]byte, error) {
	if len(indices) != len(values) || e.length > maxSparse {
		return dst, fmt.Errorf("pack: got %d indices and %d values for a vector of %d entries, want as many, and at most 2^32 entries", len(indices), len(values), e.length)
	}
	for _, i := range indices {
		if uint64(i) >= uint64(e.length) {
			return dst, fmt.Errorf("pack: got index %d for a vector of %d entries", i, e.length)
		}
	}
	if e.format.lossy() {
		if e.residual != nil {
			e.sum = append(e.sum[:0], values...)
			for j, i := range indices {
				e.sum[j] += e.residual[i]
			}
			values = e.sum
		}
		if err := finite(values, indices); err != nil {
			return dst, err
		}
		for j, i := range indices {
			if e.residual != nil {
				e.residual[i] = values[j]
			}
		}
		if k := e.format.Top; k > 0 && k < len(values) {
			chosen := e.top.largest(nil, values, k)
			kept := make([]T, k)
			e.indices = e.indices[:0]
			for j, at := range chosen {
				e.indices = append(e.indices, indices[at])
				kept[j] = values[at]
			}
			indices, values = e.indices, kept
		}
	}
	return e.appendChosen(dst, indices, values), nil
}

// appendChosen appends a sparse update and takes what it contains out of the residual.
func (e *Encoder[T]) appendChosen(dst []byte, indices []uint32, values []T) []byte {
	dst = head{kind: sparse, elem: elemOf[T](), code: e.format.Code, length: uint64(e.length), count: uint64(len(values))}.append(dst)
	dst = appendPlain(dst, indices)
	if len(indices)%2 == 1 {
		dst = append(dst, 0, 0, 0, 0)
	}
	if e.format.Code == Plain {
		if e.residual != nil {
			for _, i := range indices {
				e.residual[i] = 0
			}
		}
		return appendPlain(dst, values)
	}
	return appendCode(dst, e.format.Code, values, func(j int, sent T) {
		if e.residual != nil {
			e.residual[indices[j]] = values[j] - sent
		}
	})
}

// gatherInto returns the values at some indices, in dst's memory if it suffices. values may be dst.
func gatherInto[T Element](dst, values []T, indices []uint32) []T {
	if cap(dst) < len(indices) {
		dst = make([]T, len(indices))
	}
	dst = dst[:len(indices)]
	for j, i := range indices { // ascending, so that a place is read before it is written
		dst[j] = values[i]
	}
	return dst
}

// finite returns an error that names the first value that is not finite.
func finite[T Element](values []T, indices []uint32) error {
	for j, v := range values {
		if v-v != 0 { // NaN or infinite
			if indices != nil {
				j = int(indices[j])
			}
			return fmt.Errorf("pack: entry %d is %v: only finite values can be compressed; the model has diverged", j, v)
		}
	}
	return nil
}

// appendCode appends compressed values, and calls sent with each value as the receiver will decode it.
func appendCode[T Element](dst []byte, c Code, values []T, sent func(i int, v T)) []byte {
	switch c {
	case F16:
		for i, v := range values {
			h := toHalf(float32(v))
			sent(i, T(fromHalf(h)))
			dst = binary.LittleEndian.AppendUint16(dst, h)
		}
	case Q8:
		for lo := 0; lo < len(values); lo += blockSize {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(scaleOf(values[lo:min(lo+blockSize, len(values))])))
		}
		for lo := 0; lo < len(values); lo += blockSize {
			block := values[lo:min(lo+blockSize, len(values))]
			scale := scaleOf(block)
			for i, v := range block {
				q := int8(0)
				if scale > 0 {
					q = int8(max(-127, min(127, math.Round(float64(v)/float64(scale)))))
				}
				sent(lo+i, T(float32(q)*scale))
				dst = append(dst, byte(q))
			}
		}
	default: // plain values of a sparse update
		dst = appendPlain(dst, values)
	}
	return dst
}

// scaleOf returns the step of a block in Q8: its largest magnitude is 127 steps.
func scaleOf[T Element](block []T) float32 {
	var most T
	for _, v := range block {
		most = max(most, v, -v)
	}
	return float32(min(float64(most)/127, math.MaxFloat32/127))
}
