// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Sizes of the section of --marginal.
const (
	meanSize   = 8 + 2*8 // of an id with its mean
	expertSize = 8 + 6*4 // of an id with its experts
)

// means reads the section of --marginal. Whether it has experts does not follow from the kept options:
// experts begin with the number of ids again, and with one of these ids.
func (d *Decoder) means() error {
	n, err := d.rows(meanSize)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	next, err := d.r.Peek(16)
	if n == 0 && len(next) >= 8 {
		next, err = next[:8], nil
	}
	if err != nil || le.Uint64(next) != n {
		return nil
	}
	for ids := d.Section[8:]; n > 0; ids = ids[meanSize:] {
		if len(ids) == 0 {
			return nil
		}
		if le.Uint64(ids) == le.Uint64(next[8:]) {
			break
		}
	}
	_, err = d.rows(expertSize)
	return err
}

// rows appends a number and as many rows of the given size to the section. It returns the number.
func (d *Decoder) rows(size int) (uint64, error) {
	at := d.offset
	p, err := d.more(8)
	if err != nil {
		return 0, err
	}
	n := binary.LittleEndian.Uint64(p)
	if n > 1<<d.Header.Bits || n > uint64(maxSection/size) {
		return 0, fail(at, sectionField, ErrDamaged, "%d ids, want at most %d, one for each weight", n, min(1<<d.Header.Bits, maxSection/size))
	}
	_, err = d.more(int(n) * size)
	return n, err
}

// appendMeansText appends the section of --marginal as vw prints it in readable models.
func appendMeansText(dst []byte, r *Regressor, float appender) []byte {
	le, p := binary.LittleEndian, r.Section
	// rows appends a title with the number of rows, and each row by put.
	rows := func(title string, size int, put func(row []byte)) {
		if len(p) < 8 {
			return
		}
		n := le.Uint64(p)
		dst = fmt.Appendf(dst, "%s size = %d\n", title, n)
		for p = p[8:]; n > 0 && len(p) >= size; n, p = n-1, p[size:] {
			dst = fmt.Appendf(dst, "%d:", le.Uint64(p))
			put(p[8:size])
		}
	}
	rows("marginals", meanSize, func(row []byte) {
		dst = append(float(dst, math.Float64frombits(le.Uint64(row)), 64), ':')
		dst = append(float(dst, math.Float64frombits(le.Uint64(row[8:])), 64), '\n')
	})
	rows("expert_state", expertSize, func(row []byte) {
		for ; len(row) > 0; row = row[4:] {
			dst = append(float(dst, float64(math.Float32frombits(le.Uint32(row))), 32), ':')
		}
	})
	return dst
}
