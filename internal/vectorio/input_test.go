// SPDX-License-Identifier: Apache-2.0

package vectorio

import (
	"io"
	"strings"
	"testing"
)

// TestLimitOfLines checks that a line may have as many bytes as the limit, whatever ends it.
func TestLimitOfLines(t *testing.T) {
	for _, most := range []int{3, 1 << 16, 100_000} { // also across the reader's buffer
		line := strings.Repeat("1", most)
		for _, end := range []string{"", "\n", "\r\n"} {
			in := NewInput(strings.NewReader(line+end), false, most)
			if raw, err := in.read(); string(raw) != line || err != nil {
				t.Errorf("limit %d, ended by %q: got %d bytes, %v", most, end, len(raw), err)
			}
			if raw, err := in.read(); err != io.EOF {
				t.Errorf("limit %d, ended by %q: then got %q, %v, want the end", most, end, raw, err)
			}
			in = NewInput(strings.NewReader(line+"1"+end), false, most)
			if raw, err := in.read(); err == nil {
				t.Errorf("limit %d, ended by %q: got a line of %d bytes", most, end, len(raw))
			}
		}
	}
}
