// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Snapshot is a state, or the results of a step, on its way to another rank or into
// a checkpoint: small things, and arrays.
//
//	offset  size  field, little-endian
//	     0     4  "gvwS": a state; "gvwR": results
//	     4     4  version
//	     8     4  phase, from 0
//	    12     4  number of arrays
//	    16     8  steps completed
//	    24     8  bytes of the small things
//	    32        small things: what coders write
//	              arrays: 8 bytes for the number of elements, 4 bytes each
type Snapshot struct {
	Phase  int
	Steps  int
	Small  []byte
	Arrays []Array
}

// Array is a vector of a snapshot, which is somebody else's memory.
type Array struct {
	Name string
	V    []float32
	// now returns what is to be written, where v is under way to something else
	// meanwhile: as many numbers as v has. nil: v is.
	Now func() []float32
}

const (
	StateMark   = "gvwS"
	ResultsMark = "gvwR"
	version     = 2
	HeadSize    = 32

	MaxPhase  = 16
	maxArrays = 1 << 16
	MaxSmall  = 1 << 32 // the records of a job of 65,536 ranks at their longest
)

// Write writes the snapshot.
func (p *Snapshot) Write(w io.Writer, mark string) error {
	var head [HeadSize]byte
	le := binary.LittleEndian
	copy(head[:], mark)
	le.PutUint32(head[4:], version)
	le.PutUint32(head[8:], uint32(p.Phase))
	le.PutUint32(head[12:], uint32(len(p.Arrays)))
	le.PutUint64(head[16:], uint64(p.Steps))
	le.PutUint64(head[24:], uint64(len(p.Small)))
	if _, err := w.Write(head[:]); err != nil {
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

func (p *Snapshot) longest() int {
	n := 0
	for _, a := range p.Arrays {
		n = max(n, len(a.V))
	}
	return n
}

// arrayBuffer is how many bytes of an array are converted at a time.
const arrayBuffer = 256 << 10

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

// Read reads the snapshot but for its arrays, of which it knows the number.
func Read(r io.Reader, mark string) (p Snapshot, arrays int, err error) {
	var head [HeadSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return p, 0, cutOff("its head", err)
	}
	le := binary.LittleEndian
	if got := string(head[:4]); got != mark {
		return p, 0, fmt.Errorf("it begins with %q, want %q", got, mark)
	}
	if v := le.Uint32(head[4:]); v != version {
		return p, 0, fmt.Errorf("it has version %d, this gvw reads %d: do all ranks run the same gvw?", v, version)
	}
	phase, count := le.Uint32(head[8:]), le.Uint32(head[12:])
	steps, size := le.Uint64(head[16:]), le.Uint64(head[24:])
	if phase > MaxPhase || count > maxArrays || steps > math.MaxInt32 || size > MaxSmall {
		return p, 0, fmt.Errorf("phase %d, %d arrays, %d steps, %d bytes of small things: it is damaged", phase, count, steps, size)
	}
	p.Phase, p.Steps = int(phase), int(steps)
	var small bytes.Buffer // it grows as bytes come: a length is only a claim
	if _, err := io.CopyN(&small, r, int64(size)); err != nil {
		return p, 0, cutOff("its small things", err)
	}
	p.Small = small.Bytes()
	return p, int(count), nil
}

// ReadArrays reads count arrays into the memory that dst has for them.
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

// cutOff says where a snapshot ended too early.
func cutOff(what string, err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s: cut off: %w", what, err)
}
