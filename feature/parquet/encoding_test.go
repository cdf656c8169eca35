// SPDX-License-Identifier: Apache-2.0

package parquet

import "testing"

// The values of a page without defined ones may be an empty stream, which no compression makes.
func TestDecompressNothing(t *testing.T) {
	t.Parallel()
	for _, codec := range []int64{0, 1, 2, 6, 7} {
		if page, err := decompress(codec, nil, 0); err != nil || len(page) != 0 {
			t.Errorf("codec %d: got %d bytes, %v", codec, len(page), err)
		}
	}
	for _, codec := range []int64{0, 1, 2, 6, 7} {
		if _, err := decompress(codec, nil, 3); err == nil {
			t.Errorf("codec %d: no error for 3 bytes of nothing", codec)
		}
	}
}
