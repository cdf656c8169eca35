// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Element is the type of a vector's entries.
type Element interface{ float32 | float64 }

// Code is the encoding of values.
type Code uint8

const (
	Plain Code = iota // the bytes of the vector
	F16               // 2 bytes a value; values beyond ±65504 become ±65504
	Q8                // 1 byte a value, and a float32 for each 256 values
)

var codeNames = [...]string{Plain: "none", F16: "f16", Q8: "q8"}

// String returns the name of the code.
func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("Code(%d)", uint8(c))
}

// Format is the way in which an encoder writes updates. The zero Format writes all values, plain.
type Format struct {
	Code Code
	Top  int // values of an update that are sent, the largest by magnitude; 0: all
	// NoFeedback forgets what compression drops; false: the next update contains it.
	NoFeedback bool
}

// Validate reports all faults.
func (f Format) Validate() error {
	var faults []error
	if int(f.Code) >= len(codeNames) {
		faults = append(faults, fmt.Errorf("pack: %v: no such code", f.Code))
	}
	if f.Top < 0 {
		faults = append(faults, fmt.Errorf("pack: top %d: want 0 for all values, or a positive number", f.Top))
	}
	return errors.Join(faults...)
}

// lossy reports whether an update may differ from the values that were given.
func (f Format) lossy() bool { return f.Code != Plain || f.Top > 0 }

const (
	headSize  = 24
	dense     = 1
	sparse    = 2
	blockSize = 256     // values that share a scale in Q8
	maxSparse = 1 << 32 // entries of a vector with 32-bit indices
)

// head is the decoded head of an update.
type head struct {
	kind, elem uint8
	code       Code
	length     uint64
	count      uint64
}

func (h head) append(dst []byte) []byte {
	dst = append(dst, h.kind, h.elem, byte(h.code), 0, 0, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint64(dst, h.length)
	return binary.LittleEndian.AppendUint64(dst, h.count)
}

// sizes returns the numbers of bytes of indices and values.
func (h head) sizes() (indices, values uint64) {
	if h.kind == sparse {
		indices = (4*h.count + 7) &^ 7
	}
	switch h.code {
	case F16:
		values = 2 * h.count
	case Q8:
		values = 4*((h.count+blockSize-1)/blockSize) + h.count
	default:
		values = elemSize(h.elem) * h.count
	}
	return indices, values
}

func elemOf[T Element]() uint8 {
	var zero T
	if _, ok := any(zero).(float32); ok {
		return 1
	}
	return 2
}

func elemSize(elem uint8) uint64 { return 4 * uint64(elem) }

// MaxSize returns the largest number of bytes of an update of a vector with
// length entries of type T. entries is the largest number of values of sparse updates, and 0 for dense ones.
func MaxSize[T Element](f Format, length, entries int) int {
	h := head{kind: dense, elem: elemOf[T](), code: f.Code, count: uint64(length)}
	if entries > 0 {
		h.kind, h.count = sparse, uint64(entries)
	}
	if f.Top > 0 && uint64(f.Top) < h.count {
		h.kind, h.count = sparse, uint64(f.Top)
	}
	indices, values := h.sizes()
	return headSize + int(indices+values)
}
