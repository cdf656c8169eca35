// SPDX-License-Identifier: Apache-2.0

package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Limits of a file that is read.
const (
	maxFooter = 256 << 20
	maxPage   = 256 << 20 // uncompressed bytes
	maxChunk  = 2 << 30   // stored bytes of one column of a row group
)

const (
	magic       = "PAR1"
	footerBytes = 8 // length and magic, at the end
)

// schemaElement is a node of the schema, in depth-first order.
type schemaElement struct {
	physical   int64 // -1: a group
	length     int64 // of fixed-length values
	repetition int64
	name       string
	children   int64
	converted  int64 // -1: none
	logical    int64 // number of the field of LogicalType; 0: none
	scale      int64
}

// chunk describes one column of a row group.
type chunk struct {
	codec      int64
	values     int64
	offset     int64
	size       int64 // stored bytes
	elsewhere  bool  // in another file
	encryption bool
}

// rowGroup describes a row group.
type rowGroup struct {
	rows   int64
	chunks []chunk
}

// readFooter reads the metadata at the end of a file.
func readFooter(r io.ReaderAt, size int64) (schema []schemaElement, groups []rowGroup, err error) {
	var tail [footerBytes]byte
	if size < int64(len(magic))+footerBytes {
		return nil, nil, fmt.Errorf("%d bytes are no Parquet file", size)
	}
	if err := readFull(r, tail[:], size-footerBytes); err != nil {
		return nil, nil, err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	switch {
	case string(tail[4:]) == "PARE":
		return nil, nil, fmt.Errorf("the file is encrypted: write it without encryption")
	case string(tail[4:]) != magic:
		return nil, nil, fmt.Errorf("the file ends with %q, want %q: it is no Parquet file, or it was cut off", tail[4:], magic)
	case n > maxFooter || n > size-footerBytes-int64(len(magic)):
		return nil, nil, fmt.Errorf("metadata of %d bytes in a file of %d bytes: the file is damaged", n, size)
	}
	b := make([]byte, n)
	if err := readFull(r, b, size-footerBytes-n); err != nil {
		return nil, nil, err
	}
	t := thrift{b: b}
	t.fields(func(id int64, kind byte) bool {
		switch {
		case id == 2 && kind == thriftList:
			t.list(func(byte) { schema = append(schema, t.schemaElement()) })
		case id == 4 && kind == thriftList:
			t.list(func(byte) { groups = append(groups, t.rowGroup()) })
		default:
			return false
		}
		return true
	})
	if t.bad || len(schema) == 0 {
		return nil, nil, errMetadata
	}
	return schema, groups, nil
}

// readFull reads len(b) bytes.
func readFull(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == io.EOF || err == nil {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (t *thrift) schemaElement() schemaElement {
	e := schemaElement{physical: -1, converted: -1}
	t.fields(func(id int64, kind byte) bool {
		switch {
		case id == 1:
			e.physical = t.int()
		case id == 2:
			e.length = t.int()
		case id == 3:
			e.repetition = t.int()
		case id == 4 && kind == thriftBinary:
			e.name = string(t.binary())
		case id == 5:
			e.children = t.int()
		case id == 6:
			e.converted = t.int()
		case id == 7:
			e.scale = t.int()
		case id == 10 && kind == thriftStruct:
			t.fields(func(id int64, kind byte) bool {
				e.logical = id
				return false
			})
		default:
			return false
		}
		return true
	})
	return e
}

func (t *thrift) rowGroup() rowGroup {
	var g rowGroup
	t.fields(func(id int64, kind byte) bool {
		switch {
		case id == 1 && kind == thriftList:
			t.list(func(byte) { g.chunks = append(g.chunks, t.chunk()) })
		case id == 3:
			g.rows = t.int()
		default:
			return false
		}
		return true
	})
	return g
}

func (t *thrift) chunk() chunk {
	var c chunk
	t.fields(func(id int64, kind byte) bool {
		switch {
		case id == 1 && kind == thriftBinary:
			c.elsewhere = len(t.binary()) > 0
		case id == 3 && kind == thriftStruct:
			t.chunkMetadata(&c)
		case id == 8 && kind == thriftStruct:
			c.encryption = true
			return false
		default:
			return false
		}
		return true
	})
	return c
}

func (t *thrift) chunkMetadata(c *chunk) {
	var data, dictionary int64
	t.fields(func(id int64, kind byte) bool {
		switch id {
		case 4:
			c.codec = t.int()
		case 5:
			c.values = t.int()
		case 7:
			c.size = t.int()
		case 9:
			data = t.int()
		case 11:
			dictionary = t.int()
		default:
			return false
		}
		return true
	})
	c.offset = data
	if dictionary > 0 && dictionary < data {
		c.offset = dictionary
	}
}

// pageHeader precedes each page.
type pageHeader struct {
	kind          int64
	size          int64 // uncompressed
	stored        int64
	values        int64
	encoding      int64
	levelEncoding int64
	levelBytes    int64 // of a page of version 2
	plain         bool  // of a page of version 2: not compressed

	repeatedEncoding int64 // of repetition levels
	repeatedBytes    int64 // of a page of version 2
}

// Kinds of pages.
const (
	pageData       = 0
	pageDictionary = 2
	pageData2      = 3
)

// pageHeader reads a header. Its fields with the same meaning have the same numbers in all kinds of pages,
// except those of version 2.
func (t *thrift) pageHeader() pageHeader {
	var h pageHeader
	t.fields(func(id int64, kind byte) bool {
		switch {
		case id == 1:
			h.kind = t.int()
		case id == 2:
			h.size = t.int()
		case id == 3:
			h.stored = t.int()
		case (id == 5 || id == 7) && kind == thriftStruct:
			t.fields(func(id int64, kind byte) bool {
				switch {
				case id == 1:
					h.values = t.int()
				case id == 2:
					h.encoding = t.int()
				case id == 3 && kind != thriftTrue && kind != thriftFalse:
					h.levelEncoding = t.int()
				case id == 4 && kind != thriftTrue && kind != thriftFalse && h.kind == pageData:
					h.repeatedEncoding = t.int()
				default:
					return false
				}
				return true
			})
		case id == 8 && kind == thriftStruct:
			t.pageHeader2(&h)
		default:
			return false
		}
		return true
	})
	return h
}

func (t *thrift) pageHeader2(h *pageHeader) {
	h.levelEncoding = encodingRLE
	t.fields(func(id int64, kind byte) bool {
		switch id {
		case 1:
			h.values = t.int()
		case 4:
			h.encoding = t.int()
		case 5:
			h.levelBytes = t.int()
		case 6:
			h.repeatedBytes = t.int()
		case 7:
			h.plain = kind == thriftFalse
			return false
		default:
			return false
		}
		return true
	})
}
