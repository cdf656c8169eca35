// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/gvw-project/gvw/internal/mem"
)

// Weights reads the weights into dst, which holds 2^Header.Bits of them, and returns the number
// of weights in the file. Floats of the file beyond the slots of dst are dropped. Slots beyond
// the floats of the file, and weights that the file lacks, keep their values. It can be called
// once.
func (d *Decoder) Weights(dst View) (int, error) {
	if d.done {
		return 0, fmt.Errorf("model: the weights were read already")
	}
	if d.Regularizer {
		return 0, fail(d.offset, "resume flag", ErrNotModel, "this is a file of per-feature regularisers, and no model: load it with learn.Config.Reg.Input")
	}
	if d.Header.LDA > 0 {
		return 0, fail(d.offset, "lda", ErrNotModel, "this is a model of %d topics, and not of weights: use gvw topics or gvw infer", d.Header.LDA)
	}
	dst = dst.fill()
	if k := d.Header.RowFloats(); k > 0 {
		if dst.Places != nil || len(dst.Data) != dst.Stride<<d.Header.Bits || dst.Stride < k {
			return 0, fmt.Errorf("model: got a slice of %d floats with stride %d, want 2^%d rows of %d floats", len(dst.Data), dst.Stride, d.Header.Bits, k)
		}
		return d.readRows(dst.Data, dst.Stride, k)
	}
	if err := dst.check(d.Header.Bits); err != nil {
		return 0, err
	}
	if d.Floats < 1 || d.Floats > maxFloats {
		return 0, fmt.Errorf("model: %d floats per weight, want 1 to %d", d.Floats, maxFloats)
	}
	d.done = true
	indexSize := 4
	if wide(d.Header.Bits) {
		indexSize = 8
	}
	size := indexSize + 4*d.Floats
	slots := dst.Slots[:min(len(dst.Slots), d.Floats)]
	count := uint64(1) << d.Header.Bits
	n := 0
	// Decode whole records in the reader's buffer: no allocation, and no copy except the
	// floats.
	for {
		buf, err := d.r.Peek(size)
		if len(buf) < size {
			if err == io.EOF && len(buf) == 0 {
				return n, nil
			}
			if err == io.EOF {
				return n, fail(d.offset, "weights", ErrTruncated, "%d bytes follow %d weights of %d bytes: the file was not written or copied to its end, or it keeps another number of floats than %d per weight", len(buf), n, size, d.Floats)
			}
			return n, fail(d.offset, "weights", err, "")
		}
		buf, _ = d.r.Peek(d.r.Buffered() / size * size)
		if n == 0 && dst.Places == nil && dense(buf, size, indexSize, 4*dst.Stride) {
			mem.Huge(dst.Data)
		}
		for rec := buf; len(rec) > 0; rec = rec[size:] {
			i := uint64(binary.LittleEndian.Uint32(rec))
			if indexSize == 8 {
				i = binary.LittleEndian.Uint64(rec)
			}
			if i >= count {
				at := d.offset + int64(len(buf)-len(rec))
				return n, fail(at, "weights", ErrDamaged, "weight %d has index %d, but the model has 2^%d weights", n+1, i, d.Header.Bits)
			}
			var w []float32
			if dst.Places == nil {
				w = dst.Data[int(i)*dst.Stride:][:dst.Stride]
			} else {
				w = dst.Places.Weight(uint32(i))
			}
			for k, s := range slots {
				w[s] = math.Float32frombits(binary.LittleEndian.Uint32(rec[indexSize+4*k:]))
			}
			n++
		}
		if _, err := d.r.Discard(len(buf)); err != nil {
			panic(fmt.Sprintf("BUG: model: cannot discard what was peeked: %v", err))
		}
		d.offset += int64(len(buf))
	}
}

// dense reports whether records of a file are on more than half of the pages from the first one's to the last one's,
// so that huge pages save page faults and cost little memory. A record has size bytes, its index indexSize, and a weight
// cell bytes in memory. It returns false for fewer than 1024 records, from which the rest cannot be estimated.
func dense(records []byte, size, indexSize, cell int) bool {
	const few = 1024
	if len(records) < few*size {
		return false
	}
	var first, last, pages uint64
	for rec := records; len(rec) > 0; rec = rec[size:] {
		i := uint64(binary.LittleEndian.Uint32(rec))
		if indexSize == 8 {
			i = binary.LittleEndian.Uint64(rec)
		}
		page := i * uint64(cell) / mem.Page
		switch {
		case pages == 0:
			first = page
		case page == last:
			continue
		case page < last:
			return false // files of vw and gvw ascend
		}
		last = page
		pages++
	}
	return 2*pages > last-first+1
}
