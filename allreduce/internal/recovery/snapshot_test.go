// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"bytes"
	"io"
	"testing"
)

// TestSnapshot checks that a copy is what was written, whatever the sizes of the writes.
func TestSnapshot(t *testing.T) {
	var want, got bytes.Buffer
	var s snapshot
	if err := s.take(func(w io.Writer) error {
		for i, n := range []int{0, 1, snapshotPart - 1, 1, snapshotPart, 3*snapshotPart + 5, 7} {
			b := bytes.Repeat([]byte{byte(i + 1)}, n)
			want.Write(b)
			if k, err := w.Write(b); k != n || err != nil {
				t.Errorf("Write returns %d, %v; want %d", k, err, n)
			}
			clear(b)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.writeTo(&got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("the copy has %d bytes, want the %d that were written", got.Len(), want.Len())
	}
}
