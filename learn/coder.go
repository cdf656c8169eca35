// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"encoding/binary"
	"fmt"
	"math"
)

// coder writes values, little-endian, or reads them. One function that names the
// fields of a format serves both ways, so that they cannot differ. After an
// error it reads zeros.
type coder struct {
	b       []byte // written so far; or left to be read
	reading bool
	err     error
}

// fail notes the first error.
func (c *coder) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
	c.b = nil
}

// take returns the next n bytes to be read; nil if there are none.
func (c *coder) take(n int, what string) []byte {
	if c.err != nil {
		return nil
	}
	if len(c.b) < n {
		c.fail("%s: %d bytes are left, want %d: it is cut off, or was written by another version of gvw", what, len(c.b), n)
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *coder) u64(what string, v *uint64) {
	if !c.reading {
		c.b = binary.LittleEndian.AppendUint64(c.b, *v)
		return
	}
	*v = 0
	if b := c.take(8, what); b != nil {
		*v = binary.LittleEndian.Uint64(b)
	}
}

// number is an integer from 0 to limit.
func (c *coder) number(what string, v *int, limit int) {
	u := uint64(*v)
	c.u64(what, &u)
	if c.reading {
		if u > uint64(limit) {
			c.fail("%s: got %d, want at most %d", what, u, limit)
			u = 0
		}
		*v = int(u)
	}
}

func (c *coder) flag(what string, v *bool) {
	n := 0
	if *v {
		n = 1
	}
	c.number(what, &n, 1)
	*v = n == 1
}

func (c *coder) f64(what string, v *float64) {
	u := math.Float64bits(*v)
	c.u64(what, &u)
	*v = math.Float64frombits(u)
}

func (c *coder) f32(what string, v *float32) {
	u := uint64(math.Float32bits(*v))
	c.u64(what, &u)
	if u > math.MaxUint32 {
		c.fail("%s: got %d, want the 32 bits of a number", what, u)
		u = 0
	}
	*v = math.Float32frombits(uint32(u))
}

// f64s are as many numbers as v has.
func (c *coder) f64s(what string, v []float64) {
	n := len(v)
	c.number(what+": numbers", &n, math.MaxInt)
	if c.reading && c.err == nil && n != len(v) {
		c.fail("%s: got %d numbers, want %d: do all ranks have the same options?", what, n, len(v))
	}
	if c.err != nil {
		return
	}
	for i := range v {
		c.f64(what, &v[i])
	}
}

// bytes are at most limit bytes.
func (c *coder) bytes(what string, v *[]byte, limit int) {
	n := len(*v)
	c.number(what+": bytes", &n, limit)
	if !c.reading {
		c.b = append(c.b, *v...)
		return
	}
	*v = append((*v)[:0], c.take(n, what)...)
}

// text is bytes as a string.
func (c *coder) text(what string, v *string, limit int) {
	b := []byte(*v)
	c.bytes(what, &b, limit)
	*v = string(b)
}

// end is for a reader: nothing may be left.
func (c *coder) end(what string) error {
	if c.err == nil && len(c.b) > 0 {
		c.fail("%s: %d bytes too many: was it written by another version of gvw?", what, len(c.b))
	}
	return c.err
}
