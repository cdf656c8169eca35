// SPDX-License-Identifier: Apache-2.0

package parquet

import (
	"encoding/binary"
	"io"
	"strings"
	"testing"
)

// sparse is a file of zeros that ends with some bytes.
type sparse struct {
	size int64
	end  []byte
}

func (s sparse) ReadAt(b []byte, at int64) (int, error) {
	clear(b)
	if begin := s.size - int64(len(s.end)); at >= begin {
		return copy(b, s.end[at-begin:]), nil
	}
	return len(b), nil
}

// footer returns the metadata of one row in one column of int64, whose chunk has some bytes from byte 4 on.
func footer(stored int64) []byte {
	var b []byte
	field := func(delta, kind byte) { b = append(b, delta<<4|kind) }
	num := func(delta byte, v int64) {
		field(delta, thriftI64)
		b = binary.AppendVarint(b, v)
	}
	const end = 0
	field(2, thriftList) // schema
	b = append(b, 2<<4|thriftStruct)
	num(5, 1) // children
	b = append(b, end)
	num(1, typeInt64)
	field(3, thriftBinary)
	b = append(b, 1, 'x', end)
	field(2, thriftList) // row groups
	b = append(b, 1<<4|thriftStruct)
	field(1, thriftList) // columns
	b = append(b, 1<<4|thriftStruct)
	field(3, thriftStruct) // metadata
	num(7, stored)
	num(2, 4) // offset of the data
	b = append(b, end, end)
	num(2, 1) // rows
	b = append(b, end, end)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(b))), magic...)
}

// A column that is too large for its row group is not called damaged, unlike one that exceeds its file.
func TestLargeColumns(t *testing.T) {
	t.Parallel()
	const over = int64(maxChunk) + 1
	for size, want := range map[int64]string{
		2 * over: "row group 1, column x: it has 2147483649 bytes in a row group, want at most 2147483648: write smaller row groups",
		over:     "row group 1, column x: it has 2147483649 bytes from byte 4 of a file of 2147483649 bytes: the file is damaged",
	} {
		f, err := Open(sparse{size, footer(over)}, size)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(f.CSV(Part{To: 1})); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
