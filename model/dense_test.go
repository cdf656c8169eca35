// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"testing"
)

// Weights are dense if they are on most pages between the first and the last one, at any distance within pages.
func TestDense(t *testing.T) {
	for name, c := range map[string]struct {
		count, step, cell, indexSize int
		want                         bool
	}{
		"every weight":                {8000, 1, 4, 4, true},
		"every tenth":                 {8000, 10, 4, 4, true},
		"one a page":                  {8000, 1024, 4, 4, true},
		"one in three pages":          {8000, 3072, 4, 4, false},
		"one in three pages, in rows": {8000, 768, 16, 4, false},
		"every tenth, in rows":        {8000, 10, 16, 4, true},
		"wide indices":                {5000, 10, 4, 8, true},
		"wide indices, far apart":     {5000, 1 << 20, 4, 8, false},
		"too few to know":             {100, 1, 4, 4, false},
		"none":                        {0, 1, 4, 4, false},
		"all on one page":             {8000, 0, 4, 4, true},
		"descending":                  {8000, -1024, 4, 4, false},
	} {
		size := c.indexSize + 4
		var records []byte
		for i := range c.count {
			rec := make([]byte, size)
			index := uint64(1<<24 + i*c.step)
			if c.indexSize == 8 {
				binary.LittleEndian.PutUint64(rec, index)
			} else {
				binary.LittleEndian.PutUint32(rec, uint32(index))
			}
			records = append(records, rec...)
		}
		if got := dense(records, size, c.indexSize, c.cell); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
