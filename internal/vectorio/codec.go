// SPDX-License-Identifier: Apache-2.0

package vectorio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// Number is the type of a vector's elements.
type Number interface{ float32 | float64 | int64 }

// Parse appends the numbers of a line to dst.
func Parse[T Number](dst []T, line []byte) ([]T, error) {
	for word := range bytes.FieldsSeq(line) {
		var x T
		var err error
		switch p := any(&x).(type) {
		case *float32:
			var f float64
			f, err = strconv.ParseFloat(string(word), 32)
			*p = float32(f)
		case *float64:
			*p, err = strconv.ParseFloat(string(word), 64)
		case *int64:
			*p, err = strconv.ParseInt(string(word), 10, 64)
		}
		if err != nil {
			return nil, fmt.Errorf("%.40q is not a number of type %s", word, typeName[T]())
		}
		dst = append(dst, x)
	}
	return dst, nil
}

// Format appends a vector to dst as a line.
func Format[T Number](dst []byte, v []T) []byte {
	for i, x := range v {
		if i > 0 {
			dst = append(dst, ' ')
		}
		switch x := any(x).(type) {
		case float32:
			dst = strconv.AppendFloat(dst, float64(x), 'g', -1, 32)
		case float64:
			dst = strconv.AppendFloat(dst, x, 'g', -1, 64)
		case int64:
			dst = strconv.AppendInt(dst, x, 10)
		}
	}
	return append(dst, '\n')
}

// Decode appends the elements of a frame to dst.
func Decode[T Number](dst []T, raw []byte) ([]T, error) {
	var zero T
	size := binary.Size(zero)
	if len(raw)%size != 0 {
		return nil, fmt.Errorf("its length of %d bytes is not a multiple of type %s (%d bytes)", len(raw), typeName[T](), size)
	}
	for ; len(raw) > 0; raw = raw[size:] {
		switch p := any(&zero).(type) {
		case *float32:
			*p = math.Float32frombits(binary.LittleEndian.Uint32(raw))
		case *float64:
			*p = math.Float64frombits(binary.LittleEndian.Uint64(raw))
		case *int64:
			*p = int64(binary.LittleEndian.Uint64(raw))
		}
		dst = append(dst, zero)
	}
	return dst, nil
}

// Encode appends a vector to dst as a frame.
func Encode[T Number](dst []byte, v []T) []byte {
	var zero T
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(v)*binary.Size(zero)))
	for _, x := range v {
		switch x := any(x).(type) {
		case float32:
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
		case float64:
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
		case int64:
			dst = binary.LittleEndian.AppendUint64(dst, uint64(x))
		}
	}
	return dst
}

func typeName[T Number]() string {
	var zero T
	switch any(zero).(type) {
	case float32:
		return "f32"
	case float64:
		return "f64"
	}
	return "i64"
}

// Read appends the elements of a frame, or of a line, to dst.
func Read[T Number](dst []T, raw []byte, frames bool) ([]T, error) {
	if frames {
		return Decode(dst, raw)
	}
	return Parse(dst, raw)
}

// Write appends a vector to dst as a frame, or as a line.
func Write[T Number](dst []byte, v []T, frames bool) []byte {
	if frames {
		return Encode(dst, v)
	}
	return Format(dst, v)
}
