// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"encoding/binary"
	"fmt"
	"math"
)

// MaxCount is the limit for counts in a state, such as passes or the examples of a table. It
// only refuses damaged input: no training comes near it.
const MaxCount = 1 << 62

// Coder writes values or reads them, little-endian. One function that names the fields of a
// format serves both directions, so that the writer and the reader cannot differ.
//
// The methods take a pointer. A writer encodes the value behind it; a reader sets it. They also
// take a name for the value, which an error begins with. After an error a reader sets every
// value to zero, so that callers check Err once, at the end.
type Coder struct {
	B       []byte // bytes written so far, or those left to read
	Reading bool   // read from B; false: append to B
	Err     error  // first error
}

// Fail records an error, unless there is one already, and drops the rest of B.
func (c *Coder) Fail(format string, args ...any) {
	if c.Err == nil {
		c.Err = fmt.Errorf(format, args...)
	}
	c.B = nil
}

// take returns the next n bytes to read, or nil after an error.
func (c *Coder) take(n int, what string) []byte {
	if c.Err != nil {
		return nil
	}
	if len(c.B) < n {
		c.Fail("%s: %d bytes are left, want %d: it is cut off, or was written by another version of gvw", what, len(c.B), n)
		return nil
	}
	b := c.B[:n]
	c.B = c.B[n:]
	return b
}

// U64 codes an unsigned integer in 8 bytes. All numbers below have this form.
func (c *Coder) U64(what string, v *uint64) {
	if !c.Reading {
		c.B = binary.LittleEndian.AppendUint64(c.B, *v)
		return
	}
	*v = 0
	if b := c.take(8, what); b != nil {
		*v = binary.LittleEndian.Uint64(b)
	}
}

// Number codes an integer from 0 to limit. A larger one is an error of the reader, which then
// sets v to 0: a length is safe to allocate when limit is.
func (c *Coder) Number(what string, v *int, limit int) {
	u := uint64(*v)
	c.U64(what, &u)
	if c.Reading {
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
	if c.Reading && c.Err == nil && n != len(v) {
		c.Fail("%s: got %d numbers, want %d: do all ranks have the same options?", what, n, len(v))
	}
	if c.Err != nil {
		return
	}
	for i := range v {
		c.F64(what, &v[i])
	}
}

// Bytes codes a length and at most limit bytes. The reader reuses the memory of v, and
// allocates no more than there are bytes left in B.
func (c *Coder) Bytes(what string, v *[]byte, limit int) {
	n := len(*v)
	c.Number(what+": bytes", &n, limit)
	if !c.Reading {
		c.B = append(c.B, *v...)
		return
	}
	*v = append((*v)[:0], c.take(n, what)...)
}

// Text codes a string as Bytes does.
func (c *Coder) Text(what string, v *string, limit int) {
	b := []byte(*v)
	c.Bytes(what, &b, limit)
	*v = string(b)
}

// End returns the first error. For a reader, bytes that are left over are an error, too.
func (c *Coder) End(what string) error {
	if c.Err == nil && len(c.B) > 0 {
		c.Fail("%s: %d bytes too many: was it written by another version of gvw?", what, len(c.B))
	}
	return c.Err
}
