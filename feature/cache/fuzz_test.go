// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/cache"
)

// FuzzDecode: no payload with a valid header makes the decoder panic. An accepted payload can
// be encoded again.
func FuzzDecode(f *testing.F) {
	for _, bits := range []uint{8, 18, 32} {
		for _, b := range batches(f, feature.Config{Bits: bits}, text, "1 | a\n", "") {
			block, err := cache.NewEncoder(bits).Append(nil, b)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(block[20:], uint32(len(b.Examples)), uint32(len(b.Features)), uint8(bits))
		}
	}
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	f.Fuzz(func(t *testing.T, payload []byte, examples, features uint32, bits uint8) {
		if features > 1<<16 { // more only costs time
			return
		}
		width := uint(bits)%32 + 1
		block := []byte("blok")
		block = binary.LittleEndian.AppendUint32(block, uint32(len(payload)))
		block = binary.LittleEndian.AppendUint32(block, examples)
		block = binary.LittleEndian.AppendUint32(block, features)
		sum := crc32.Update(crc32.Checksum(block, castagnoli), castagnoli, payload)
		block = binary.LittleEndian.AppendUint32(block, sum)
		block = append(block, payload...)

		var b, again feature.Batch
		dec := cache.NewDecoder(width)
		if err := dec.Decode(&b, cache.Block{Data: block}); err != nil {
			if len(b.Examples)+len(b.Features)+len(b.Spans)+len(b.Tags) > 0 {
				t.Errorf("%v, and yet %+v", err, b)
			}
			return
		}
		enc := cache.NewEncoder(width)
		one, err := enc.Append(nil, &b)
		if err != nil {
			t.Fatal(err)
		}
		if err := dec.Decode(&again, cache.Block{Data: one}); err != nil {
			t.Fatal(err)
		}
		two, err := enc.Append(nil, &again)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one, two) {
			t.Errorf("written as\n%x\nthen as\n%x", one, two)
		}
	})
}
