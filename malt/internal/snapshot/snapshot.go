// SPDX-License-Identifier: Apache-2.0

// Package snapshot encodes the state of a rank's vectors for a rank that joins a running job.
//
//	err := snapshot.Write(conn, objects)
//	objects, err := snapshot.Read(conn)
//
// # Layout
//
// Numbers are little-endian.
//
//	offset  size  field
//	     0     8  "gvwmalt", 1
//	     8     4  number of objects, at most MaxObjects
//	    12     4  0
//
// then for each object
//
//	     0     4  id
//	     4     4  bytes of the description, D, at most MaxDescription
//	     8     8  iteration: updates that the rank has sent
//	    16     8  bytes of the state, S
//	    24     D  description
//	  24+D     S  state
//	24+D+S     4  CRC-32C of the bytes since offset 0
//
// Read allocates memory as bytes arrive, so that a wrong length costs nothing.
package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/internal/wire"
)

// Object is the state of a vector or segment.
type Object struct {
	ID          uint32
	Description []byte // what all ranks agree on
	Iteration   uint64 // updates that the rank has sent
	State       []byte // its values, in an encoding of the caller's; nil: it has none
}

const (
	// MaxObjects is the largest number of objects.
	MaxObjects = 1 << 16
	// MaxDescription is the largest description, in bytes.
	MaxDescription = 1 << 12

	magic      = "gvwmalt\x01"
	headSize   = 16
	objectSize = 24
)

// Write writes objects.
func Write(w io.Writer, objects []Object) error {
	if len(objects) > MaxObjects {
		return fmt.Errorf("snapshot: got %d objects, the limit is %d", len(objects), MaxObjects)
	}
	le := binary.LittleEndian
	head := le.AppendUint64(append(make([]byte, 0, headSize), magic...), uint64(len(objects)))
	if _, err := w.Write(head); err != nil {
		return err
	}
	for _, o := range objects {
		if len(o.Description) > MaxDescription {
			return fmt.Errorf("snapshot: object %d has a description of %d bytes, the limit is %d", o.ID, len(o.Description), MaxDescription)
		}
		c := wire.Encode(nil)
		description, state := uint32(len(o.Description)), uint64(len(o.State))
		o.code(&c, &description, &state)
		b := append(c.Bytes(), o.Description...)
		sum := crc32c.Update(crc32c.Checksum(b), o.State)
		for _, part := range [][]byte{b, o.State, le.AppendUint32(nil, sum)} {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
	}
	return nil
}

// Read reads what Write has written. Bytes after it remain in r.
func Read(r io.Reader) ([]Object, error) {
	le := binary.LittleEndian
	var head [headSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, tooShort(err)
	}
	n := le.Uint64(head[8:])
	if string(head[:8]) != magic || n > MaxObjects {
		return nil, fmt.Errorf("snapshot: its first bytes are not those of one of this version: % x", head)
	}
	var objects []Object
	for range n {
		o, err := readObject(r)
		if err != nil {
			return nil, fmt.Errorf("snapshot: object %d of %d: %w", len(objects), n, err)
		}
		objects = append(objects, o)
	}
	return objects, nil
}

// code codes the fields before the description; description and state are the lengths of what
// follows, in bytes.
func (o *Object) code(c *wire.Coder, description *uint32, state *uint64) {
	c.U32("id", &o.ID)
	c.U32("description", description)
	c.U64("iteration", &o.Iteration)
	c.U64("state", state)
}

func readObject(r io.Reader) (o Object, err error) {
	var head [objectSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return o, tooShort(err)
	}
	var d uint32
	var s uint64
	c := wire.Decode(head[:])
	if o.code(&c, &d, &s); c.End() != nil {
		return o, c.Err()
	}
	if d > MaxDescription || s > math.MaxInt64-MaxDescription {
		return o, fmt.Errorf("a description of %d bytes and a state of %d bytes", d, s)
	}
	var body bytes.Buffer
	if n, err := io.CopyN(&body, r, int64(d)+int64(s)); err != nil {
		return o, fmt.Errorf("%d of %d bytes have arrived: %w", n, int64(d)+int64(s), tooShort(err))
	}
	var tail [4]byte
	if _, err := io.ReadFull(r, tail[:]); err != nil {
		return o, tooShort(err)
	}
	b := body.Bytes()
	if sum := crc32c.Update(crc32c.Checksum(head[:]), b); sum != binary.LittleEndian.Uint32(tail[:]) {
		return o, errors.New("its checksum is wrong: bytes have changed on the way")
	}
	o.Description = b[:d:d]
	if s > 0 {
		o.State = b[d:]
	}
	return o, nil
}

// tooShort returns io.ErrUnexpectedEOF for io.EOF.
func tooShort(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
