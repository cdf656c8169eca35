// SPDX-License-Identifier: Apache-2.0

package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"

	"github.com/gvw-project/gvw/feature/csv"
)

// Physical types.
const (
	typeBool  = 0
	typeInt32 = 1
	typeInt64 = 2
	typeInt96 = 3
	typeFloat = 4
	typeDbl   = 5
	typeBytes = 6
	typeFixed = 7
)

// column is a column that can be read.
type column struct {
	name     string // of CSV
	at       int    // of the chunk in each row group
	physical int64
	defined  uint32 // definition level of a value; 0: each row has one
	unsigned bool
	scale    int64   // of a decimal
	repeated uint32  // definition level of an element of a list or a map; 0: a row has one value
	value    *column // of the values of a map, whose keys this column has; nil: no map
}

// cells reads the values of one column in one row group as cells of CSV.
type cells struct {
	col    *column
	codec  int64
	rest   []byte   // pages to come
	dict   []byte   // cells of the dictionary
	ends   []uint32 // of these cells
	values int64    // left in the page
	levels hybrid
	starts hybrid // repetition levels
	plain  []byte
	bit    uint // of a page of booleans
	index  *hybrid
	text   []byte // of the current cell

	peeked bool   // start is the next repetition level
	start  uint32 // 0: a row begins
	items  *cells // of the values of a map; nil: no map
	joined []byte // of the current cell with several values
}

// openCells reads the column of a row group.
func openCells(r io.ReaderAt, size int64, col *column, g *rowGroup) (*cells, error) {
	c := g.chunks[col.at]
	var items *cells
	if col.value != nil {
		var err error
		if items, err = openCells(r, size, col.value, g); err != nil {
			return nil, err
		}
	}
	switch {
	case c.elsewhere:
		return nil, errors.New("its data is in another file")
	case c.encryption:
		return nil, errors.New("it is encrypted")
	case c.size < 0 || c.offset < 0 || c.offset > size-c.size:
		return nil, fmt.Errorf("it has %d bytes from byte %d of a file of %d bytes: the file is damaged", c.size, c.offset, size)
	case c.size > maxChunk:
		return nil, fmt.Errorf("it has %d bytes in a row group, want at most %d: write smaller row groups", c.size, int64(maxChunk))
	}
	b := make([]byte, c.size)
	if err := readFull(r, b, c.offset); err != nil {
		return nil, err
	}
	return &cells{col: col, codec: c.codec, rest: b, items: items}, nil
}

// next returns the next cell, which is valid until the next call.
func (c *cells) next() ([]byte, error) {
	if c.col.repeated > 0 {
		return c.several()
	}
	for c.values == 0 {
		if err := c.page(); err != nil {
			return nil, err
		}
	}
	c.values--
	level, err := c.level()
	if err != nil || level != c.col.defined {
		return nil, err
	}
	return c.cell()
}

// level returns the next definition level.
func (c *cells) level() (uint32, error) {
	if c.col.defined == 0 {
		return 0, nil
	}
	return c.levels.next()
}

// cell returns the next value of the page as a cell.
func (c *cells) cell() ([]byte, error) {
	if c.index == nil {
		var err error
		c.text, err = c.value(c.text[:0])
		return c.text, err
	}
	i, err := c.index.next()
	if err != nil {
		return nil, err
	}
	if uint64(i) >= uint64(len(c.ends)) {
		return nil, fmt.Errorf("value %d of a dictionary of %d values", i, len(c.ends))
	}
	from := uint32(0)
	if i > 0 {
		from = c.ends[i-1]
	}
	return c.dict[from:c.ends[i]:c.ends[i]], nil
}

// page begins the next page.
func (c *cells) page() error {
	if len(c.rest) == 0 {
		return errors.New("it has fewer values than the row group has rows")
	}
	t := thrift{b: c.rest}
	h := t.pageHeader()
	if t.bad || h.stored < 0 || h.stored > int64(len(t.b)) || h.values < 0 {
		return errors.New("the header of a page is damaged")
	}
	stored := t.b[:h.stored]
	c.rest = t.b[h.stored:]
	switch h.kind {
	case pageDictionary:
		return c.dictionary(&h, stored)
	case pageData:
		page, err := decompress(c.codec, stored, h.size)
		if err != nil {
			return err
		}
		return c.data(&h, page)
	case pageData2:
		return c.data2(&h, stored)
	}
	return nil // pages of other kinds are skipped, as the format requires
}

// dictionary reads a page of a dictionary.
func (c *cells) dictionary(h *pageHeader, stored []byte) (err error) {
	if h.encoding != encodingPlain && h.encoding != encodingPlainDictionary {
		return fmt.Errorf("the dictionary has encoding %d, want PLAIN", h.encoding)
	}
	if c.plain, err = decompress(c.codec, stored, h.size); err != nil {
		return err
	}
	if h.values > 8*int64(len(c.plain)) {
		return errShort
	}
	c.dict, c.ends, c.bit = c.dict[:0], make([]uint32, 0, h.values), 0
	for range h.values {
		if c.dict, err = c.value(c.dict); err != nil {
			return err
		}
		if len(c.dict) > math.MaxUint32 {
			return fmt.Errorf("a dictionary of %d bytes: want less than 4 GiB", len(c.dict))
		}
		c.ends = append(c.ends, uint32(len(c.dict)))
	}
	return nil
}

// data2 reads a page of version 2, whose levels are not compressed.
func (c *cells) data2(h *pageHeader, stored []byte) (err error) {
	starts, levels := h.repeatedBytes, h.levelBytes
	if starts < 0 || levels < 0 || starts > int64(len(stored)) || levels > int64(len(stored))-starts || starts > 0 && c.col.repeated == 0 {
		return errors.New("the levels of a page are damaged")
	}
	page := stored[starts+levels:]
	if !h.plain {
		if page, err = decompress(c.codec, page, h.size-starts-levels); err != nil {
			return err
		}
	}
	c.starts = hybrid{b: stored[:starts], width: 1}
	c.levels = hybrid{b: stored[starts : starts+levels], width: uint(bits.Len32(c.col.defined))}
	return c.begin(h, page)
}

// data reads a page of version 1.
func (c *cells) data(h *pageHeader, page []byte) (err error) {
	if c.col.repeated > 0 {
		if page, err = c.starts.open(page, h.repeatedEncoding, 1); err != nil {
			return err
		}
	}
	if c.col.defined > 0 {
		if page, err = c.levels.open(page, h.levelEncoding, c.col.defined); err != nil {
			return err
		}
	}
	return c.begin(h, page)
}

// begin begins with the values of a page.
func (c *cells) begin(h *pageHeader, page []byte) error {
	c.values, c.index = h.values, nil
	switch {
	case h.encoding == encodingPlain:
		c.plain, c.bit = page, 0
	case h.encoding == encodingDictionary || h.encoding == encodingPlainDictionary:
		if len(page) == 0 { // no value is defined
			c.index = &hybrid{}
			return nil
		}
		if page[0] > 32 {
			return fmt.Errorf("indices of %d bits: want at most 32", page[0])
		}
		c.index = &hybrid{b: page[1:], width: uint(page[0])}
	case h.encoding == encodingRLE && c.col.physical == typeBool:
		if len(page) < 4 {
			return errShort
		}
		c.index = &hybrid{b: page[4:], width: 1}
		c.dict, c.ends = []byte("01"), []uint32{1, 2}
	default:
		var err error
		c.plain, err = plain(h.encoding, c.col.physical, page, h.values)
		c.bit = 0
		return err
	}
	return nil
}

// value appends the next plain value to dst as a cell.
func (c *cells) value(dst []byte) ([]byte, error) {
	le := binary.LittleEndian
	size := 4
	switch c.col.physical {
	case typeBool:
		if len(c.plain) == 0 {
			return nil, errShort
		}
		dst = append(dst, '0'+c.plain[0]>>c.bit&1)
		if c.bit++; c.bit == 8 {
			c.plain, c.bit = c.plain[1:], 0
		}
		return dst, nil
	case typeInt64, typeDbl:
		size = 8
	}
	if len(c.plain) < size {
		return nil, errShort
	}
	b := c.plain
	c.plain = c.plain[size:]
	switch c.col.physical {
	case typeInt32:
		v := le.Uint32(b)
		if c.col.unsigned {
			return strconv.AppendUint(dst, uint64(v), 10), nil
		}
		return c.integer(dst, int64(int32(v))), nil
	case typeInt64:
		v := le.Uint64(b)
		if c.col.unsigned {
			return strconv.AppendUint(dst, v, 10), nil
		}
		return c.integer(dst, int64(v)), nil
	case typeFloat:
		return appendNumber(dst, float64(math.Float32frombits(le.Uint32(b)))), nil
	case typeDbl:
		return appendNumber(dst, math.Float64frombits(le.Uint64(b))), nil
	}
	n := le.Uint32(b)
	if uint64(n) > uint64(len(c.plain)) {
		return nil, errShort
	}
	text := c.plain[:n]
	c.plain = c.plain[n:]
	return appendText(dst, text), nil
}

// integer appends a whole number or a decimal.
func (c *cells) integer(dst []byte, v int64) []byte {
	if c.col.scale > 0 {
		return appendNumber(dst, float64(v)/math.Pow10(int(min(c.col.scale, 400))))
	}
	return strconv.AppendInt(dst, v, 10)
}

// appendNumber appends a number; one that is none is an empty cell.
func appendNumber(dst []byte, v float64) []byte {
	if v != v {
		return dst
	}
	if math.IsInf(v, 0) {
		if v < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "inf"...)
	}
	return strconv.AppendFloat(dst, float64(float32(v)), 'g', -1, 32)
}

// appendText appends a text in quotes; the empty text is an empty cell. Line ends and csv.Mark become blanks.
func appendText(dst, text []byte) []byte {
	if len(text) == 0 {
		return dst
	}
	dst = append(dst, '"')
	for _, c := range text {
		switch c {
		case '"':
			dst = append(dst, '"', '"')
		case '\n', '\r', csv.Mark:
			dst = append(dst, ' ')
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
