// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"fmt"

	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/wire"
	"github.com/gvw-project/gvw/malt/internal/mailbox"
)

// The kinds of calls and notes.
const (
	callUpdate   = 1
	callDescribe = 2
	callHello    = 3
	callOffer    = 4

	noteAck     = 1
	noteLeft    = 2
	noteUp      = 3
	noteDown    = 4
	noteSent    = 5
	noteProbe   = 6
	noteSwitch  = 7
	noteRefuse  = 8
	noteWritten = 9
)

const (
	updateSize   = 64
	describeSize = 16
	offerSize    = 40
	// MaxDescription is the largest description of an object, in bytes.
	MaxDescription = link.MaxCall - describeSize
)

// Head describes an update.
type Head struct {
	Round     uint64  // the number of updates of the object that the sender has sent before, in all epochs
	Iteration uint64  // Round + 1
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

func appendHello(dst, hello []byte) []byte {
	c := wire.Encode(dst)
	codeHello(&c, &hello)
	return c.Bytes()
}

func codeHello(c *wire.Coder, hello *[]byte) {
	size := uint64(len(*hello))
	codeKind(c, callHello)
	codeSize(c, MaxHello, &size)
	c.View("hello", int(size), hello)
}

// codeSize codes the number of bytes of a field.
func codeSize(c *wire.Coder, limit uint64, size *uint64) {
	if c.U64("size", size); c.Decoding() && (*size == 0 || *size > limit) {
		c.Fail("size", fmt.Errorf("got %d, want 1 to %d", *size, limit))
		*size = 0
	}
}

// decodeHello returns the hello as a part of b.
func decodeHello(b []byte) (hello []byte, err error) {
	c := wire.Decode(b)
	if codeHello(&c, &hello); c.End() != nil {
		return nil, fmt.Errorf("a hello: %w: % x", c.Err(), b)
	}
	return hello, nil
}

// offer describes a mailbox to the sender that is to use it.
type offer struct {
	object   uint32
	key      uint32
	layout   mailbox.Layout
	location []byte // of the memory
}

func (o offer) append(dst []byte) []byte {
	c := wire.Encode(dst)
	o.code(&c)
	return c.Bytes()
}

func (o *offer) code(c *wire.Coder) {
	depth, payload, size := uint64(o.layout.Depth), uint64(o.layout.Payload), uint64(len(o.location))
	codeKind(c, callOffer)
	c.U32("object", &o.object)
	c.U32("key", &o.key)
	codeCount(c, "depth", &depth)
	codeCount(c, "payload", &payload)
	codeSize(c, MaxOffer, &size)
	c.View("location", int(size), &o.location)
	o.layout = mailbox.Layout{Depth: int(depth), Payload: int(payload)}
}

// codeCount codes a number below 2^32 in 8 bytes.
func codeCount(c *wire.Coder, name string, v *uint64) {
	if c.U64(name, v); c.Decoding() && *v>>32 != 0 {
		c.Fail(name, fmt.Errorf("got %d, want less than 2^32", *v))
		*v = 0
	}
}

// decodeOffer returns an offer whose location is a part of b.
func decodeOffer(b []byte) (o offer, err error) {
	c := wire.Decode(b)
	if o.code(&c); c.End() != nil {
		return offer{}, fmt.Errorf("the offer of a mailbox: %w: % x", c.Err(), b)
	}
	return o, nil
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
	if n.kind < noteAck || n.kind > noteWritten {
		return n, fmt.Errorf("a note of unknown kind %d", n.kind)
	}
	return n, nil
}
