// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"fmt"
	"hash/crc32"

	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/wire"
)

// The kinds of calls and notes.
const (
	callUpdate   = 1
	callDescribe = 2

	noteAck   = 1
	noteLeft  = 2
	noteUp    = 3
	noteDown  = 4
	noteSent  = 5
	noteProbe = 6
)

const (
	updateSize   = 64
	describeSize = 16
	// MaxDescription is the largest description of an object, in bytes.
	MaxDescription = link.MaxCall - describeSize
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Head describes an update.
type Head struct {
	Round     uint64  // of the epoch: 0 for the first update after a membership began
	Iteration uint64  // the sender's count of updates of the object, over all epochs
	Sent      int64   // nanoseconds since 1970, by the sender's clock
	Scale     float64 // a factor of all values
}

type updateHead struct {
	Head
	object uint32
	size   uint64
	sum    uint32
}

func (h updateHead) append(dst []byte) []byte {
	c := wire.Encode(dst)
	h.code(&c)
	return c.Bytes()
}

func (h *updateHead) code(c *wire.Coder) {
	codeKind(c, callUpdate)
	c.U32("object", &h.object)
	codeZero(c)
	c.U64("round", &h.Round)
	c.U64("iteration", &h.Iteration)
	c.I64("sent", &h.Sent)
	c.U64("size", &h.size)
	c.U32("crc32c", &h.sum)
	codeZero(c)
	c.F64("scale", &h.Scale)
}

// codeKind codes the kind of a call. A decoder accepts no other kind.
func codeKind(c *wire.Coder, kind uint64) {
	got := kind
	if c.U64("kind", &got); c.Decoding() && got != kind {
		c.Fail("kind", fmt.Errorf("got %d, want %d", got, kind))
	}
}

// codeZero codes the upper half of a number of 8 bytes, which is 0.
func codeZero(c *wire.Coder) {
	var u uint32
	if c.U32("reserved", &u); c.Decoding() && u != 0 {
		c.Fail("reserved", fmt.Errorf("got %d, want 0", u))
	}
}

func decodeUpdate(b []byte) (h updateHead, err error) {
	c := wire.Decode(b)
	if h.code(&c); c.End() != nil {
		return updateHead{}, fmt.Errorf("the head of an update: %w: % x", c.Err(), b)
	}
	return h, nil
}

func appendDescribe(dst []byte, object uint32, description []byte) []byte {
	c := wire.Encode(dst)
	codeDescribe(&c, &object, &description)
	return c.Bytes()
}

func codeDescribe(c *wire.Coder, object *uint32, description *[]byte) {
	size := uint32(len(*description))
	codeKind(c, callDescribe)
	c.U32("object", object)
	c.U32("size", &size)
	c.View("description", int(size), description)
}

// decodeDescribe returns the description as a part of b.
func decodeDescribe(b []byte) (object uint32, description []byte, err error) {
	c := wire.Decode(b)
	if codeDescribe(&c, &object, &description); c.End() != nil {
		return 0, nil, fmt.Errorf("the description of an object: %w: % x", c.Err(), b)
	}
	return object, description, nil
}

// note is a short message without data.
type note struct {
	kind   uint32
	object uint32
	number uint64
}

func (n note) append(dst []byte) []byte {
	c := wire.Encode(dst)
	n.code(&c)
	return c.Bytes()
}

func (n *note) code(c *wire.Coder) {
	c.U32("kind", &n.kind)
	c.U32("object", &n.object)
	c.U64("number", &n.number)
}

func decodeNote(b []byte) (n note, err error) {
	c := wire.Decode(b)
	if n.code(&c); c.End() != nil {
		return note{}, fmt.Errorf("a note of %d bytes, want %d: %w", len(b), link.MaxProgress, c.Err())
	}
	if n.kind < noteAck || n.kind > noteProbe {
		return n, fmt.Errorf("a note of unknown kind %d", n.kind)
	}
	return n, nil
}
