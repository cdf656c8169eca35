// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"encoding/binary"
	"fmt"
	"math"
)

// MaxCount bounds whatever is counted in a state: passes, examples of a table.
const MaxCount = 1 << 62

// Coder writes values, little-endian, or reads them. One function that names the
// fields of a format serves both ways, so that they cannot differ. After an
// error it reads zeros.
type Coder struct {
	B       []byte // written so far; or left to be read
	Reading bool
	Err     error
}

// Fail notes the first error.
func (c *Coder) Fail(format string, args ...any) {
	if c.Err == nil {
		c.Err = fmt.Errorf(format, args...)
	}
	c.B = nil
}

// take returns the next n bytes to be read; nil if there are none.
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

// Number is an integer from 0 to limit.
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

func (c *Coder) Flag(what string, v *bool) {
	n := 0
	if *v {
		n = 1
	}
	c.Number(what, &n, 1)
	*v = n == 1
}

func (c *Coder) F64(what string, v *float64) {
	u := math.Float64bits(*v)
	c.U64(what, &u)
	*v = math.Float64frombits(u)
}

func (c *Coder) F32(what string, v *float32) {
	u := uint64(math.Float32bits(*v))
	c.U64(what, &u)
	if u > math.MaxUint32 {
		c.Fail("%s: got %d, want the 32 bits of a number", what, u)
		u = 0
	}
	*v = math.Float32frombits(uint32(u))
}

// F64s are as many numbers as v has.
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

// Bytes are at most limit bytes.
func (c *Coder) Bytes(what string, v *[]byte, limit int) {
	n := len(*v)
	c.Number(what+": bytes", &n, limit)
	if !c.Reading {
		c.B = append(c.B, *v...)
		return
	}
	*v = append((*v)[:0], c.take(n, what)...)
}

// Text is bytes as a string.
func (c *Coder) Text(what string, v *string, limit int) {
	b := []byte(*v)
	c.Bytes(what, &b, limit)
	*v = string(b)
}

// End is for a reader: nothing may be left.
func (c *Coder) End(what string) error {
	if c.Err == nil && len(c.B) > 0 {
		c.Fail("%s: %d bytes too many: was it written by another version of gvw?", what, len(c.B))
	}
	return c.Err
}
