// SPDX-License-Identifier: Apache-2.0

// Package modelbytes is the encoding of the models of packages svm, factor and nn.
//
//	b := modelbytes.NewEncoder(dst, "gvwsvm01", config)
//	b.Float32s(weights)
//	return b.Bytes(), nil
//
//	d, err := modelbytes.Decode(data, "gvwsvm01", &config)
//	weights, err := d.Float32s(config.Size)
//	err = d.End()
//
// # Format
//
// All numbers are little-endian:
//
//	0   8  magic: the kind of model and its version
//	8   4  n, the length of the configuration
//	12  n  the configuration as JSON
//	    …  arrays, without lengths: they follow from the configuration
//	    4  CRC-32C of everything before
//
// # Contract
//
// Decode verifies the checksum first. An array of a wrong length is an error, and nothing is allocated that is
// longer than the data.
package modelbytes

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/internal/crc32c"
)

// magicSize is the length of a magic.
const magicSize = 8

// Encoder appends a model to a slice.
type Encoder struct {
	dst   []byte
	start int
}

// NewEncoder begins a model with its magic, 8 bytes long, and its configuration.
func NewEncoder(dst []byte, magic string, config any) (*Encoder, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	e := &Encoder{dst: dst, start: len(dst)}
	e.dst = append(e.dst, magic[:magicSize]...)
	e.dst = binary.LittleEndian.AppendUint32(e.dst, uint32(len(text)))
	e.dst = append(e.dst, text...)
	return e, nil
}

// Float32s appends an array.
func (e *Encoder) Float32s(x []float32) {
	for _, v := range x {
		e.dst = binary.LittleEndian.AppendUint32(e.dst, math.Float32bits(v))
	}
}

// Uint32s appends an array.
func (e *Encoder) Uint32s(x []uint32) {
	for _, v := range x {
		e.dst = binary.LittleEndian.AppendUint32(e.dst, v)
	}
}

// Bytes ends the model with its checksum, and returns the slice.
func (e *Encoder) Bytes() []byte {
	return binary.LittleEndian.AppendUint32(e.dst, crc32c.Checksum(e.dst[e.start:]))
}

// Decoder reads the arrays of a model.
type Decoder struct{ rest []byte }

// Decode verifies a model and reads its configuration. A field that config lacks is an error.
func Decode(data []byte, magic string, config any) (*Decoder, error) {
	if len(data) < magicSize+8 {
		return nil, fmt.Errorf("the model has %d bytes, want at least %d: the file is cut off or no model", len(data), magicSize+8)
	}
	if got := string(data[:magicSize]); got != magic {
		return nil, fmt.Errorf("the data begins with %q, want %q: it is a model of another kind or version, or no model", got, magic)
	}
	body, sum := data[:len(data)-4], binary.LittleEndian.Uint32(data[len(data)-4:])
	if got := crc32c.Checksum(body); got != sum {
		return nil, fmt.Errorf("the model is damaged: checksum %08x, want %08x", got, sum)
	}
	n, body := binary.LittleEndian.Uint32(body[magicSize:]), body[magicSize+4:]
	if uint64(n) > uint64(len(body)) {
		return nil, fmt.Errorf("the configuration has %d bytes, and only %d follow", n, len(body))
	}
	j := json.NewDecoder(bytes.NewReader(body[:n]))
	j.DisallowUnknownFields()
	if err := j.Decode(config); err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return &Decoder{rest: body[n:]}, nil
}

// Float32s reads an array of n elements.
func (d *Decoder) Float32s(n int) ([]float32, error) {
	if err := d.need(n); err != nil {
		return nil, err
	}
	x := make([]float32, n)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(d.rest[4*i:]))
	}
	d.rest = d.rest[4*n:]
	return x, nil
}

// Uint32s reads an array of n elements.
func (d *Decoder) Uint32s(n int) ([]uint32, error) {
	if err := d.need(n); err != nil {
		return nil, err
	}
	x := make([]uint32, n)
	for i := range x {
		x[i] = binary.LittleEndian.Uint32(d.rest[4*i:])
	}
	d.rest = d.rest[4*n:]
	return x, nil
}

// need returns an error unless n elements follow.
func (d *Decoder) need(n int) error {
	if n < 0 || n > len(d.rest)/4 {
		return fmt.Errorf("an array of %d numbers is cut off: %d bytes follow", n, len(d.rest))
	}
	return nil
}

// End returns an error if data follows the last array.
func (d *Decoder) End() error {
	if len(d.rest) > 0 {
		return fmt.Errorf("%d bytes follow the last array, want 0: the file is damaged or from another version", len(d.rest))
	}
	return nil
}
