// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gvw-project/gvw/internal/wire"
)

// Snapshot is a state, or the results of a step, on its way to another rank or into a
// checkpoint. It consists of small fields and of arrays.
//
//	offset  size  field, little-endian
//	     0     4  "gvwS": a state; "gvwR": results
//	     4     4  version
//	     8     4  phase, from 0
//	    12     4  number of arrays
//	    16     8  steps completed
//	    24     8  length of the small fields, in bytes
//	    32        small fields: what coders write
//	              arrays: 8 bytes for the number of elements, 4 bytes each
type Snapshot struct {
	Phase  int     // stage of the trainer, from 0
	Steps  int     // steps completed, over all stages
	Small  []byte  // small fields, as coders write them
	Arrays []Array // long vectors, in an order that both sides know
}

// Array is a vector of a snapshot. It refers to memory of the stage and copies nothing.
type Array struct {
	Name string    // for messages
	V    []float32 // the vector; a reader fills it
	// Now returns the numbers to write, as many as V has. It is for a vector that a pass
	// changes while another rank may ask for the state. nil: V itself.
	Now func() []float32
}

// Marks and limits of the format. The limits refuse damaged heads before memory is allocated.
const (
	StateMark   = "gvwS" // first bytes of a state
	ResultsMark = "gvwR" // first bytes of results
	version     = 3
	HeadSize    = 32 // bytes before the small fields

	MaxPhase  = 16 // no training has more than two stages
	maxArrays = 1 << 16
	MaxSmall  = 1 << 32 // bytes of the records of a job of 65,536 ranks at their longest
)

// Write writes the snapshot, with StateMark or ResultsMark as its mark.
func (p *Snapshot) Write(w io.Writer, mark string) error {
	h := head{
		version: version, phase: uint32(p.Phase), arrays: uint32(len(p.Arrays)),
		steps: uint64(p.Steps), small: uint64(len(p.Small)),
	}
	copy(h.mark[:], mark)
	c := wire.Encode(make([]byte, 0, HeadSize))
	h.code(&c)
	if _, err := w.Write(c.Bytes()); err != nil {
		return err
	}
	if _, err := w.Write(p.Small); err != nil {
		return err
	}
	buf := make([]byte, min(arrayBuffer, 8+4*p.longest()))
	for _, a := range p.Arrays {
		v := a.V
		if a.Now != nil {
			v = a.Now()
		}
		if err := writeArray(w, v, buf); err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
	}
	return nil
}

// head is the part of a snapshot before the small fields.
type head struct {
	mark                   [4]byte
	version, phase, arrays uint32
	steps, small           uint64
}

func (h *head) code(c *wire.Coder) {
	c.Raw("mark", h.mark[:])
	c.U32("version", &h.version)
	c.U32("phase", &h.phase)
	c.U32("arrays", &h.arrays)
	c.U64("steps", &h.steps)
	c.U64("length of the small fields", &h.small)
}

// longest returns the length of the longest array.
func (p *Snapshot) longest() int {
	n := 0
	for _, a := range p.Arrays {
		n = max(n, len(a.V))
	}
	return n
}

// arrayBuffer is the number of bytes of an array that are converted at a time. It bounds the
// memory that a transfer needs besides the arrays.
const arrayBuffer = 256 << 10

// writeArray writes the length of v and its elements. The length shares the first write with
// elements, so that a short array is one write.
func writeArray(w io.Writer, v []float32, buf []byte) error {
	le := binary.LittleEndian
	le.PutUint64(buf, uint64(len(v)))
	at := 8
	for {
		for ; at+4 <= len(buf) && len(v) > 0; at += 4 {
			le.PutUint32(buf[at:], math.Float32bits(v[0]))
			v = v[1:]
		}
		if _, err := w.Write(buf[:at]); err != nil {
			return err
		}
		if len(v) == 0 {
			return nil
		}
		at = 0
	}
}

// Read reads a snapshot up to its arrays, and returns their number. The small fields determine
// which arrays there are, so the caller decodes them before it calls ReadArrays.
func Read(r io.Reader, mark string) (p Snapshot, arrays int, err error) {
	var b [HeadSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return p, 0, cutOff("its head", err)
	}
	var h head
	c := wire.Decode(b[:])
	h.code(&c)
	switch {
	case c.End() != nil:
		return p, 0, c.Err()
	case string(h.mark[:]) != mark:
		return p, 0, fmt.Errorf("it begins with %q, want %q", h.mark[:], mark)
	case h.version != version:
		return p, 0, fmt.Errorf("it has version %d, this gvw reads %d: do all ranks run the same gvw?", h.version, version)
	case h.phase > MaxPhase || h.arrays > maxArrays || h.steps > math.MaxInt32 || h.small > MaxSmall:
		return p, 0, fmt.Errorf("phase %d, %d arrays, %d steps, %d bytes of small fields: it is damaged", h.phase, h.arrays, h.steps, h.small)
	}
	p.Phase, p.Steps = int(h.phase), int(h.steps)
	var small bytes.Buffer // grows as bytes arrive: the length is only a claim
	if _, err := io.CopyN(&small, r, int64(h.small)); err != nil {
		return p, 0, cutOff("its small fields", err)
	}
	p.Small = small.Bytes()
	return p, int(h.arrays), nil
}

// ReadArrays reads count arrays into the memory of dst, in that order.
func ReadArrays(r io.Reader, dst []Array, count int) error {
	if count != len(dst) {
		return fmt.Errorf("it has %d arrays, want %d (%s): do all ranks have the same options?", count, len(dst), names(dst))
	}
	buf := make([]byte, arrayBuffer)
	for _, a := range dst {
		if err := readArray(r, a, buf); err != nil {
			return err
		}
	}
	return nil
}

// readArray fills one array. Its length must be that of the memory, which the options decide.
func readArray(r io.Reader, a Array, buf []byte) error {
	le := binary.LittleEndian
	if _, err := io.ReadFull(r, buf[:8]); err != nil {
		return cutOff(a.Name, err)
	}
	if n := le.Uint64(buf); n != uint64(len(a.V)) {
		return fmt.Errorf("%s: got %d numbers, want %d: do all ranks have the same options?", a.Name, n, len(a.V))
	}
	for v := a.V; len(v) > 0; {
		b := buf[:min(len(buf), 4*len(v))]
		if _, err := io.ReadFull(r, b); err != nil {
			return cutOff(a.Name, err)
		}
		for i := 0; i < len(b); i += 4 {
			v[i/4] = math.Float32frombits(le.Uint32(b[i:]))
		}
		v = v[len(b)/4:]
	}
	return nil
}

// names lists the arrays for a message.
func names(arrays []Array) string {
	var b []byte
	for i, a := range arrays {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, a.Name...)
	}
	return string(b)
}

// cutOff names the part of a snapshot in which the input ended.
func cutOff(what string, err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s: cut off: %w", what, err)
}
