// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"
)

// A coder visits the fields of a message in their order on the wire. Each message has one method
// "code(*coder)", which encodes, decodes and describes it, so the three cannot disagree.
//
// Invariants: after the first error all further fields are skipped; decoding never reads past the
// buffer, and never allocates more than a constant multiple of the bytes that it has read.
type coder struct {
	mode   mode
	buf    []byte  // encoding: the bytes written so far; decoding: the bytes not read yet
	err    error   // the first error; later fields are skipped
	fields []field // describing: the fields visited so far
}

type mode int

const (
	encoding   mode = iota // append the fields to buf
	decoding               // read the fields from buf
	describing             // describe the fields
)

// field describes one field for docs/protocol.md.
type field struct {
	name string
	size int    // in bytes; 0: it depends on the content
	kind string // as in the tables of docs/protocol.md: "u32", "text ≤ 255", …
}

var errShort = errors.New("it ends inside a field")

func (c *coder) fail(name string, err error) {
	if c.err == nil {
		c.err = fmt.Errorf("field %s: %w", name, err)
	}
}

// fixed handles a field of a constant size in bytes. It returns the field's place in the buffer, or
// nil if there is nothing to copy.
func (c *coder) fixed(name, kind string, size int) []byte {
	switch {
	case c.err != nil:
		return nil
	case c.mode == describing:
		c.fields = append(c.fields, field{name, size, kind})
		return nil
	case c.mode == encoding:
		n := len(c.buf)
		c.buf = append(c.buf, make([]byte, size)...)
		return c.buf[n:]
	case len(c.buf) < size:
		c.fail(name, errShort)
		return nil
	}
	b := c.buf[:size]
	c.buf = c.buf[size:]
	return b
}

func (c *coder) u8(name string, v *uint8) {
	if b := c.fixed(name, "u8", 1); b != nil {
		if c.mode == encoding {
			b[0] = *v
		} else {
			*v = b[0]
		}
	}
}

func (c *coder) u16(name string, v *uint16) {
	if b := c.fixed(name, "u16", 2); b != nil {
		if c.mode == encoding {
			binary.LittleEndian.PutUint16(b, *v)
		} else {
			*v = binary.LittleEndian.Uint16(b)
		}
	}
}

func (c *coder) u32(name string, v *uint32) {
	if b := c.fixed(name, "u32", 4); b != nil {
		if c.mode == encoding {
			binary.LittleEndian.PutUint32(b, *v)
		} else {
			*v = binary.LittleEndian.Uint32(b)
		}
	}
}

func (c *coder) u64(name string, v *uint64) {
	if b := c.fixed(name, "u64", 8); b != nil {
		if c.mode == encoding {
			binary.LittleEndian.PutUint64(b, *v)
		} else {
			*v = binary.LittleEndian.Uint64(b)
		}
	}
}

func (c *coder) f64(name string, v *float64) {
	if b := c.fixed(name, "f64", 8); b != nil {
		if c.mode == encoding {
			binary.LittleEndian.PutUint64(b, math.Float64bits(*v))
		} else {
			*v = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	}
}

// millis codes a duration in milliseconds, from 0 to 49 days, as u32. Longer durations are encoded
// as the longest one, negative ones as 0.
func (c *coder) millis(name string, v *time.Duration) {
	if b := c.fixed(name, "ms", 4); b != nil {
		if c.mode == encoding {
			binary.LittleEndian.PutUint32(b, uint32(min(max(v.Milliseconds(), 0), math.MaxUint32)))
		} else {
			*v = time.Duration(binary.LittleEndian.Uint32(b)) * time.Millisecond
		}
	}
}

// nanos codes a duration in nanoseconds, from 0 to 292 years, as u64. Negative durations are
// encoded as 0, and larger numbers are decoded as the longest duration.
func (c *coder) nanos(name string, v *time.Duration) {
	if b := c.fixed(name, "ns", 8); b != nil {
		if c.mode == encoding {
			binary.LittleEndian.PutUint64(b, uint64(max(*v, 0)))
		} else {
			*v = time.Duration(min(binary.LittleEndian.Uint64(b), math.MaxInt64))
		}
	}
}

func (c *coder) flag(name string, v *bool) {
	if b := c.fixed(name, "flag", 1); b != nil {
		switch {
		case c.mode == encoding && *v:
			b[0] = 1
		case c.mode == encoding:
		case b[0] > 1:
			c.fail(name, fmt.Errorf("%d is neither 0 nor 1", b[0]))
		default:
			*v = b[0] == 1
		}
	}
}

// NoRank is the encoding of "no rank", which is -1 in Go.
const NoRank = math.MaxUint32

// rank codes a rank, or -1 for none.
func (c *coder) rank(name string, v *int) {
	if b := c.fixed(name, "rank", 4); b != nil {
		if c.mode == encoding {
			binary.LittleEndian.PutUint32(b, uint32(*v))
			return
		}
		*v = -1
		if r := binary.LittleEndian.Uint32(b); r > math.MaxInt32 && r != NoRank {
			c.fail(name, fmt.Errorf("%d is no rank", r))
		} else if r != NoRank {
			*v = int(r)
		}
	}
}

func (c *coder) raw(name string, v []byte) {
	if b := c.fixed(name, fmt.Sprintf("%d bytes", len(v)), len(v)); b != nil {
		if c.mode == encoding {
			copy(b, v)
		} else {
			copy(v, b)
		}
	}
}

func (c *coder) epoch(name string, e *Epoch) {
	if c.mode == describing {
		c.fields = append(c.fields, field{name, 16, "epoch"})
		return
	}
	c.u32(name+".term", &e.Term)
	c.u32(name+".n", &e.N)
	c.u64(name+".incarnation", &e.Incarnation)
}

// text codes UTF-8 of at most limit bytes, after its length as u32.
func (c *coder) text(name string, limit int, v *string) {
	if c.mode == describing {
		c.fields = append(c.fields, field{name, 0, fmt.Sprintf("text ≤ %d", limit)})
		return
	}
	c.blob(name, limit, v)
	if c.mode == decoding && c.err == nil && !utf8.ValidString(*v) {
		c.fail(name, errors.New("it is not UTF-8"))
	}
}

func (c *coder) blob(name string, limit int, v *string) {
	if c.mode == describing {
		c.fields = append(c.fields, field{name, 0, fmt.Sprintf("bytes ≤ %d", limit)})
		return
	}
	n := uint32(len(*v))
	if c.u32(name, &n); c.err != nil {
		return
	}
	if int64(n) > int64(limit) {
		c.fail(name, fmt.Errorf("%d bytes, the limit is %d", n, limit))
		return
	}
	if c.mode == encoding {
		c.buf = append(c.buf, *v...)
		return
	}
	if b := c.fixed(name, "", int(n)); b != nil {
		*v = string(b)
	}
}

// list codes a count of at most limit, then the elements, of at least size bytes each. A count that
// exceeds the rest of the buffer is an error before anything is allocated for it.
func list[T any](c *coder, name string, limit, size int, v *[]T, each func(*coder, *T)) {
	if c.mode == describing {
		c.fields = append(c.fields, field{name, 0, fmt.Sprintf("list ≤ %d", limit)})
		var one T
		inner := coder{mode: describing}
		each(&inner, &one)
		for _, f := range inner.fields {
			f.name = name + "[]." + f.name
			c.fields = append(c.fields, f)
		}
		return
	}
	n := uint32(len(*v))
	if c.u32(name, &n); c.err != nil {
		return
	}
	if int64(n) > int64(limit) {
		c.fail(name, fmt.Errorf("%d elements, the limit is %d", n, limit))
		return
	}
	if c.mode == decoding {
		if int(n)*size > len(c.buf) {
			c.fail(name, errShort)
			return
		}
		*v = nil
		if n > 0 {
			*v = make([]T, n)
		}
	}
	for i := range *v {
		each(c, &(*v)[i])
	}
}

// texts codes a list of at most count texts of at most limit bytes each.
func (c *coder) texts(name string, count, limit int, v *[]string) {
	list(c, name, count, 4, v, func(c *coder, s *string) { c.text("text", limit, s) })
}

// Clip returns s as valid UTF-8 of at most limit bytes. A longer text for people ends in "…".
func Clip(s string, limit int) string {
	s = toUTF8(s)
	if len(s) <= limit {
		return s
	}
	const dots = "…"
	s = s[:limit-len(dots)]
	for len(s) > 0 && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + dots
}

func toUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return fmt.Sprintf("%+q", s)
}
