// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Coder visits the fields of a message. The functions Encode, Decode and Describe return one.
type Coder struct {
	mode   mode
	buf    []byte // encoding: the bytes written so far; decoding: the bytes not read yet
	err    error  // the first error; later fields are skipped
	fields []Field
	text   string // decoding: the last string that was not empty
	keeps  bool   // decoding: buf stays as it is after the end
}

type mode int

const (
	encoding   mode = iota // append the fields to buf
	decoding               // read the fields from buf
	describing             // describe the fields
)

// Field describes one field of a message.
type Field struct {
	Name string
	Size int    // in bytes; 0: it depends on the content
	Kind string // "u32", "text ≤ 255", …
}

// ErrShort is wrapped by the error of a decoder whose buffer ends inside a field.
var ErrShort = errors.New("it ends inside a field")

// Encode returns a coder that appends fields to dst.
func Encode(dst []byte) Coder { return Coder{mode: encoding, buf: dst} }

// Decode returns a coder that reads fields from src.
func Decode(src []byte) Coder { return Coder{mode: decoding, buf: src} }

// DecodeKept returns a coder that reads fields from src, which stays as it is after the end.
func DecodeKept(src []byte) Coder { return Coder{mode: decoding, buf: src, keeps: true} }

// Describe returns a coder that neither reads nor changes values, but describes the fields.
func Describe() Coder { return Coder{mode: describing} }

// Decoding reports whether the coder reads fields, so that their values can be checked.
func (c *Coder) Decoding() bool { return c.mode == decoding && c.err == nil }

// Encoding reports whether the coder writes fields.
func (c *Coder) Encoding() bool { return c.mode == encoding }

// Advance skips n bytes that the caller has decoded from Bytes, which are not fewer.
func (c *Coder) Advance(n int) { c.buf = c.buf[n:] }

// Keep returns a part of a decoder's buffer for use after the end: b, or a copy if the buffer may change.
func (c *Coder) Keep(b []byte) []byte {
	if c.keeps {
		return b
	}
	return slices.Clone(b)
}

// Bytes returns the bytes that an encoder has written, with dst before them. For a decoder it
// returns the bytes that are left.
func (c *Coder) Bytes() []byte { return c.buf }

// Fields returns the fields that Describe's coder has visited.
func (c *Coder) Fields() []Field { return c.fields }

// Err returns the first error.
func (c *Coder) Err() error { return c.err }

// End returns the first error. For a decoder, bytes that are left over are an error, too.
func (c *Coder) End() error {
	if c.err == nil && c.mode == decoding && len(c.buf) > 0 {
		c.err = fmt.Errorf("%d bytes too many", len(c.buf))
	}
	return c.err
}

// Fail records an error of a field, unless there is one already.
func (c *Coder) Fail(name string, err error) {
	if c.err == nil {
		c.err = fmt.Errorf("field %s: %w", name, err)
	}
}

// field handles a field of a constant size in bytes. It returns the field's place in the buffer, or
// nil if there is nothing to copy.
func (c *Coder) field(name, kind string, size int) []byte {
	switch {
	case c.err != nil:
		return nil
	case c.mode == describing:
		c.fields = append(c.fields, Field{name, size, kind})
		return nil
	case c.mode == encoding:
		n := len(c.buf)
		c.buf = append(c.buf, make([]byte, size)...)
		return c.buf[n:]
	case size < 0 || size > len(c.buf): // a length of 32 bits may be negative as an int
		c.Fail(name, ErrShort)
		return nil
	}
	b := c.buf[:size]
	c.buf = c.buf[size:]
	return b
}

// U8 codes an unsigned integer of one byte.
func (c *Coder) U8(name string, v *uint8) {
	if b := c.field(name, "u8", 1); b != nil {
		if c.mode == encoding {
			b[0] = *v
		} else {
			*v = b[0]
		}
	}
}

// U16 codes an unsigned integer of two bytes.
func (c *Coder) U16(name string, v *uint16) {
	if b := c.field(name, "u16", 2); b != nil {
		if c.mode == encoding {
			binary.LittleEndian.PutUint16(b, *v)
		} else {
			*v = binary.LittleEndian.Uint16(b)
		}
	}
}

// U32 codes an unsigned integer of four bytes.
func (c *Coder) U32(name string, v *uint32) { c.u32(name, "u32", v) }

func (c *Coder) u32(name, kind string, v *uint32) {
	if b := c.field(name, kind, 4); b != nil {
		if c.mode == encoding {
			binary.LittleEndian.PutUint32(b, *v)
		} else {
			*v = binary.LittleEndian.Uint32(b)
		}
	}
}

// U64 codes an unsigned integer of eight bytes.
func (c *Coder) U64(name string, v *uint64) { c.u64(name, "u64", v) }

func (c *Coder) u64(name, kind string, v *uint64) {
	if b := c.field(name, kind, 8); b != nil {
		if c.mode == encoding {
			binary.LittleEndian.PutUint64(b, *v)
		} else {
			*v = binary.LittleEndian.Uint64(b)
		}
	}
}

// I32 codes an integer as the 32 bits of its two's complement.
func (c *Coder) I32(name string, v *int32) {
	u := uint32(*v)
	if c.u32(name, "i32", &u); c.Decoding() {
		*v = int32(u)
	}
}

// I64 codes an integer as the 64 bits of its two's complement.
func (c *Coder) I64(name string, v *int64) {
	u := uint64(*v)
	if c.u64(name, "i64", &u); c.Decoding() {
		*v = int64(u)
	}
}

// F32 codes a float32 by its bits, so that NaN and -0 survive.
func (c *Coder) F32(name string, v *float32) {
	u := math.Float32bits(*v)
	if c.u32(name, "f32", &u); c.Decoding() {
		*v = math.Float32frombits(u)
	}
}

// F64 codes a float64 by its bits, so that NaN and -0 survive.
func (c *Coder) F64(name string, v *float64) {
	u := math.Float64bits(*v)
	if c.u64(name, "f64", &u); c.Decoding() {
		*v = math.Float64frombits(u)
	}
}

// Flag codes a bool as one byte, 0 or 1. Other bytes are an error of a decoder.
func (c *Coder) Flag(name string, v *bool) {
	if b := c.field(name, "flag", 1); b != nil {
		switch {
		case c.mode == encoding && *v:
			b[0] = 1
		case c.mode == encoding:
		case b[0] > 1:
			c.Fail(name, fmt.Errorf("%d is neither 0 nor 1", b[0]))
		default:
			*v = b[0] == 1
		}
	}
}

// Millis codes a duration in milliseconds, from 0 to 49 days, as u32. Longer durations are encoded
// as the longest one, negative ones as 0.
func (c *Coder) Millis(name string, v *time.Duration) {
	u := uint32(min(max(v.Milliseconds(), 0), math.MaxUint32))
	if c.u32(name, "ms", &u); c.Decoding() {
		*v = time.Duration(u) * time.Millisecond
	}
}

// Nanos codes a duration in nanoseconds, from 0 to 292 years, as u64. Negative durations are
// encoded as 0, and larger numbers are decoded as the longest duration.
func (c *Coder) Nanos(name string, v *time.Duration) {
	u := uint64(max(*v, 0))
	if c.u64(name, "ns", &u); c.Decoding() {
		*v = time.Duration(min(u, math.MaxInt64))
	}
}

// NoRank is the encoding of "no rank", which is -1 in Go.
const NoRank = math.MaxUint32

// Rank codes the number of a rank, or -1 for none, as u32. Numbers above 2³¹ that are not NoRank
// are an error of a decoder.
func (c *Coder) Rank(name string, v *int) {
	u := uint32(*v)
	if c.u32(name, "rank", &u); !c.Decoding() {
		return
	}
	*v = -1
	if u > math.MaxInt32 && u != NoRank {
		c.Fail(name, fmt.Errorf("%d is no rank", u))
	} else if u != NoRank {
		*v = int(u)
	}
}

// Compound reports whether the coder describes fields. It then records the fields of a value as
// one, of this size in bytes, and the caller must not visit them.
func (c *Coder) Compound(name, kind string, size int) bool {
	if c.mode == describing {
		c.fields = append(c.fields, Field{name, size, kind})
		return true
	}
	return false
}

// Skip codes n bytes without a meaning. An encoder writes zeros, and a decoder ignores their values.
func (c *Coder) Skip(n int) { c.field("reserved", "0", n) }
