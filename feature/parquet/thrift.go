// SPDX-License-Identifier: Apache-2.0

package parquet

import (
	"encoding/binary"
	"errors"
)

// Types of fields in Thrift's compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI64    = 6 // also 4 and 5, i16 and i32
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9 // also 10, a set
	thriftMap    = 11
	thriftStruct = 12
)

const maxDepth = 32 // of structures in structures

var errMetadata = errors.New("its metadata is damaged")

// thrift reads the compact protocol. After an error its results are zero.
type thrift struct {
	b     []byte
	bad   bool
	depth int
}

func (t *thrift) fail() {
	t.bad = true
	t.b = nil
}

func (t *thrift) byte() byte {
	if len(t.b) == 0 {
		t.fail()
		return 0
	}
	c := t.b[0]
	t.b = t.b[1:]
	return c
}

func (t *thrift) uvarint() uint64 {
	v, n := binary.Uvarint(t.b)
	if n <= 0 {
		t.fail()
		return 0
	}
	t.b = t.b[n:]
	return v
}

// int reads an integer of any width.
func (t *thrift) int() int64 {
	v := t.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (t *thrift) binary() []byte {
	n := t.uvarint()
	if n > uint64(len(t.b)) {
		t.fail()
		return nil
	}
	b := t.b[:n]
	t.b = t.b[n:]
	return b
}

// fields calls f for each field of a structure. f reads the value, or returns false to skip it.
func (t *thrift) fields(f func(id int64, kind byte) bool) {
	if t.depth++; t.depth > maxDepth {
		t.fail()
	}
	defer func() { t.depth-- }()
	for id := int64(0); !t.bad; {
		head := t.byte()
		if head == 0 {
			return
		}
		if delta := int64(head >> 4); delta != 0 {
			id += delta
		} else {
			id = t.int()
		}
		if kind := head & 15; !f(id, kind) {
			t.skip(kind)
		}
	}
}

// list calls f for each element of a list.
func (t *thrift) list(f func(kind byte)) {
	head := t.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	for ; n > 0 && !t.bad; n-- {
		f(head & 15)
	}
}

// skip reads over a value. Booleans of fields have no bytes of their own.
func (t *thrift) skip(kind byte) {
	switch {
	case kind == thriftTrue || kind == thriftFalse:
	case kind == thriftByte:
		t.byte()
	case kind <= thriftI64:
		t.uvarint()
	case kind == thriftDouble:
		for range 8 {
			t.byte()
		}
	case kind == thriftBinary:
		t.binary()
	case kind < thriftMap:
		t.list(t.skipElement)
	case kind == thriftMap:
		t.skipMap()
	case kind == thriftStruct:
		t.fields(func(int64, byte) bool { return false })
	default:
		t.fail()
	}
}

// skipElement reads over an element of a list or map, where a boolean has a byte.
func (t *thrift) skipElement(kind byte) {
	if kind == thriftTrue || kind == thriftFalse {
		t.byte()
		return
	}
	if t.depth++; t.depth > maxDepth {
		t.fail()
	}
	t.skip(kind)
	t.depth--
}

func (t *thrift) skipMap() {
	n := t.uvarint()
	if n == 0 {
		return
	}
	kinds := t.byte()
	for ; n > 0 && !t.bad; n-- {
		t.skipElement(kinds >> 4)
		t.skipElement(kinds & 15)
	}
}
