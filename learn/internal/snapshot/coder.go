// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"math"

	"github.com/gvw-project/gvw/internal/wire"
)

// MaxCount is the limit for counts in a state, such as passes or the examples of a table. It
// only refuses damaged input: no training comes near it.
const MaxCount = 1 << 62

// Coder writes values or reads them. One function that names the fields of a format serves both
// directions, so that the writer and the reader cannot differ. It is a dialect of internal/wire, in
// which every number has 8 bytes and a limit.
//
// The methods take a pointer. A writer encodes the value behind it; a reader sets it. They also
// take a name for the value, which an error begins with. After an error a reader sets every
// value to zero, so that callers check Err once, at the end.
type Coder struct {
	fields  wire.Coder
	reading bool
	err     error // first error
}

// Encode returns a coder that appends values to dst.
func Encode(dst []byte) Coder { return Coder{fields: wire.Encode(dst)} }

// Decode returns a coder that reads values from src.
func Decode(src []byte) Coder { return Coder{fields: wire.Decode(src), reading: true} }

// Reading reports whether the coder reads values, also after an error.
func (c *Coder) Reading() bool { return c.reading }

// Bytes returns the bytes that were written so far, or those that are left to read.
func (c *Coder) Bytes() []byte { return c.fields.Bytes() }

// Err returns the first error.
func (c *Coder) Err() error { return c.err }

// FailWith records an error, unless there is one already.
func (c *Coder) FailWith(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Fail records an error, unless there is one already, and drops the rest of the bytes.
func (c *Coder) Fail(format string, args ...any) {
	c.FailWith(fmt.Errorf(format, args...))
	c.Drop()
}

// Drop drops the bytes that are left to read, or that were written.
func (c *Coder) Drop() {
	c.fields = wire.Encode(nil)
	if c.reading {
		c.fields = wire.Decode(nil)
	}
}

// check fails if the field that was read last, of n bytes, was cut off.
func (c *Coder) check(what string, n int) {
	if c.fields.Err() != nil {
		c.Fail("%s: %d bytes are left, want %d: it is cut off, or was written by another version of gvw", what, len(c.Bytes()), n)
	}
}

// U64 codes an unsigned integer in 8 bytes. All numbers below have this form.
func (c *Coder) U64(what string, v *uint64) {
	if c.reading {
		if *v = 0; c.err != nil {
			return
		}
	}
	c.fields.U64(what, v)
	c.check(what, 8)
}

// Number codes an integer from 0 to limit. A larger one is an error of the reader, which then
// sets v to 0: a length is safe to allocate when limit is.
func (c *Coder) Number(what string, v *int, limit int) {
	u := uint64(*v)
	c.U64(what, &u)
	if c.reading {
		if u > uint64(limit) {
			c.Fail("%s: got %d, want at most %d", what, u, limit)
			u = 0
		}
		*v = int(u)
	}
}

// Flag codes a bool as 0 or 1.
func (c *Coder) Flag(what string, v *bool) {
	n := 0
	if *v {
		n = 1
	}
	c.Number(what, &n, 1)
	*v = n == 1
}

// F64 codes a float64 by its bits, so that NaN and -0 survive.
func (c *Coder) F64(what string, v *float64) {
	u := math.Float64bits(*v)
	c.U64(what, &u)
	*v = math.Float64frombits(u)
}

// F32 codes a float32 by its bits, in 8 bytes like every number.
func (c *Coder) F32(what string, v *float32) {
	u := uint64(math.Float32bits(*v))
	c.U64(what, &u)
	// Damaged input may set the upper half, which the conversion would drop silently.
	if u > math.MaxUint32 {
		c.Fail("%s: got %d, want the 32 bits of a number", what, u)
		u = 0
	}
	*v = math.Float32frombits(uint32(u))
}

// F64s codes a slice whose length both sides know. The reader fills v and refuses another
// length: it means that the options of the ranks differ.
func (c *Coder) F64s(what string, v []float64) {
	n := len(v)
	c.Number(what+": numbers", &n, math.MaxInt)
	if c.reading && c.err == nil && n != len(v) {
		c.Fail("%s: got %d numbers, want %d: do all ranks have the same options?", what, n, len(v))
	}
	if c.err != nil {
		return
	}
	for i := range v {
		c.F64(what, &v[i])
	}
}

// Blob codes a length and at most limit bytes. The reader reuses the memory of v, and allocates no
// more than there are bytes left to read.
func (c *Coder) Blob(what string, v *[]byte, limit int) {
	n := len(*v)
	c.Number(what+": bytes", &n, limit)
	if !c.reading {
		c.fields.View(what, n, v)
		return
	}
	var b []byte
	if c.err == nil {
		c.fields.View(what, n, &b)
		c.check(what, n)
	}
	*v = append((*v)[:0], b...)
}

// Text codes a string as Blob does.
func (c *Coder) Text(what string, v *string, limit int) {
	b := []byte(*v)
	c.Blob(what, &b, limit)
	*v = string(b)
}

// End returns the first error. For a reader, bytes that are left over are an error, too.
func (c *Coder) End(what string) error {
	if c.err == nil && len(c.Bytes()) > 0 {
		c.Fail("%s: %d bytes too many: was it written by another version of gvw?", what, len(c.Bytes()))
	}
	return c.err
}
