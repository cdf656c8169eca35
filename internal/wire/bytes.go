// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Raw codes len(v) bytes. Both ends know their number.
func (c *Coder) Raw(name string, v []byte) {
	if c.mode == describing {
		c.fields = append(c.fields, Field{name, len(v), fmt.Sprintf("%d bytes", len(v))})
		return
	}
	if b := c.field(name, "", len(v)); b != nil {
		if c.mode == encoding {
			copy(b, v)
		} else {
			copy(v, b)
		}
	}
}

// View codes n bytes, whose number is that of another field. A decoder sets v to a part of its
// buffer, and copies nothing.
func (c *Coder) View(name string, n int, v *[]byte) {
	switch {
	case c.mode == encoding && len(*v) != n:
		c.Fail(name, fmt.Errorf("%d bytes, want %d", len(*v), n))
	case c.mode == encoding:
		c.Raw(name, *v)
	default:
		if b := c.field(name, "bytes", n); c.Decoding() {
			*v = b
		}
	}
}

// Text codes UTF-8 of at most limit bytes, after its length as u32.
func (c *Coder) Text(name string, limit int, v *string) {
	if c.mode == describing {
		c.fields = append(c.fields, Field{name, 0, fmt.Sprintf("text ≤ %d", limit)})
		return
	}
	c.Blob(name, limit, v)
	if c.Decoding() && !utf8.ValidString(*v) {
		c.Fail(name, errors.New("it is not UTF-8"))
	}
}

// Blob codes at most limit bytes, after their number as u32.
func (c *Coder) Blob(name string, limit int, v *string) {
	if c.mode == describing {
		c.fields = append(c.fields, Field{name, 0, fmt.Sprintf("bytes ≤ %d", limit)})
		return
	}
	n := uint32(len(*v))
	if c.U32(name, &n); c.err != nil {
		return
	}
	if int64(n) > int64(limit) {
		c.Fail(name, fmt.Errorf("%d bytes, the limit is %d", n, limit))
		return
	}
	if c.mode == encoding {
		c.buf = append(c.buf, *v...)
		return
	}
	if b := c.field(name, "", int(n)); b != nil {
		*v = c.interned(b)
	}
}

// interned returns b as a string. A string that is equal to the last one shares its memory: lists of ranks name the same
// host again and again.
func (c *Coder) interned(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if string(b) != c.text {
		c.text = string(b)
	}
	return c.text
}

// List codes a count of at most limit as u32, then the elements, of at least size bytes each. A
// count that exceeds the rest of the buffer is an error before anything is allocated for it.
func List[T any](c *Coder, name string, limit, size int, v *[]T, each func(*Coder, *T)) {
	if c.mode == describing {
		c.fields = append(c.fields, Field{name, 0, fmt.Sprintf("list ≤ %d", limit)})
		var one T
		inner := Describe()
		each(&inner, &one)
		for _, f := range inner.fields {
			f.Name = name + "[]." + f.Name
			c.fields = append(c.fields, f)
		}
		return
	}
	n := uint32(len(*v))
	if c.U32(name, &n); c.err != nil {
		return
	}
	if int64(n) > int64(limit) {
		c.Fail(name, fmt.Errorf("%d elements, the limit is %d", n, limit))
		return
	}
	if c.mode == decoding {
		if int(n)*size > len(c.buf) {
			c.Fail(name, ErrShort)
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

// Texts codes a list of at most count texts of at most limit bytes each.
func (c *Coder) Texts(name string, count, limit int, v *[]string) {
	List(c, name, count, 4, v, func(c *Coder, s *string) { c.Text("text", limit, s) })
}
