// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Models of --lda and --rank have a row of floats for each of 2^Bits features, also if all are 0.
// Each row begins with its number in 8 bytes. No resume flag precedes the rows.

// RowFloats returns the number of floats in a row of a model of --rank K, 2K+1: the linear weight,
// K factors as the left side of a pair, and K as the right side. It returns 0 for other models.
func (h *Header) RowFloats() int {
	values := h.Values("rank")
	if len(values) == 0 {
		return 0
	}
	k, err := strconv.Atoi(values[0])
	if err != nil || k < 1 || k > maxTopics {
		return 0
	}
	return 2*k + 1
}

// readRows reads rows of k floats into dst, each stride floats after the one before, and returns
// their number.
func (d *Decoder) readRows(dst []float32, stride, k int) (int, error) {
	d.done = true
	record := make([]byte, 8+4*k)
	for n := 0; ; n++ {
		switch got, err := io.ReadFull(d.r, record); {
		case err == io.EOF:
			return n, nil
		case err == io.ErrUnexpectedEOF:
			return n, fail(d.offset, "weights", ErrTruncated, "%d bytes follow %d rows of %d bytes: the file was not written or copied to its end", got, n, len(record))
		case err != nil:
			return n, fail(d.offset, "weights", err, "")
		}
		i := binary.LittleEndian.Uint64(record)
		if i >= 1<<d.Header.Bits {
			return n, fail(d.offset, "weights", ErrDamaged, "row %d has index %d, but the model has 2^%d rows", n+1, i, d.Header.Bits)
		}
		row := dst[int(i)*stride:][:k]
		for j := range row {
			row[j] = math.Float32frombits(binary.LittleEndian.Uint32(record[8+4*j:]))
		}
		d.offset += int64(len(record))
	}
}

// appendRow appends a row as a file has it.
func appendRow(dst []byte, i int, row []float32) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(i))
	for _, v := range row {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

// writeRows writes a header and the first k of each stride floats, as record appends them.
func writeRows(w io.Writer, head []byte, data []float32, stride, k int, record func(dst []byte, i int, row []float32) []byte) error {
	b := bufio.NewWriterSize(w, 1<<16)
	_, err := b.Write(head)
	var line []byte
	for i := 0; err == nil && i*stride < len(data); i++ {
		line = record(line[:0], i, data[i*stride:][:k])
		_, err = b.Write(line)
	}
	if err == nil {
		err = b.Flush()
	}
	if err != nil {
		return fmt.Errorf("model: cannot write the rows: %w", err)
	}
	return nil
}

// textRow returns a function that appends a row as text. vw prints addresses there.
func textRow(number appender) func(dst []byte, i int, row []float32) []byte {
	return func(dst []byte, i int, row []float32) []byte {
		dst = append(strconv.AppendInt(dst, int64(i), 10), ' ')
		for _, v := range row {
			dst = append(number(dst, float64(v), 32), ' ')
		}
		return append(dst, '\n')
	}
}

// checkRows returns an error unless the view has all floats of the rows, in their order.
func (r *Regressor) checkRows(v View) error {
	k := r.RowFloats()
	if r.Resume != nil || v.Places != nil || len(v.Slots) != k || v.Stride < k || len(v.Data) != v.Stride<<r.Bits {
		return fmt.Errorf("model: %d floats with stride %d of 2^%d rows: want %d floats of each row, without resume state", len(v.Slots), v.Stride, r.Bits, k)
	}
	for i, s := range v.Slots {
		if s != i {
			return fmt.Errorf("model: float %d of a row is at %d: want rows in their order", i, s)
		}
	}
	return nil
}
