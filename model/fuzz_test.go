// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"path/filepath"
	"testing"
)

// FuzzRead feeds the reader anything. What it accepts it must be able to write
// and to read again as the same model.
func FuzzRead(f *testing.F) {
	small, err := filepath.Glob("testdata/*/*.model")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range small {
		f.Add(readFile(f, path))
	}
	f.Add(encoded(f, sample(false)))
	f.Add(encoded(f, sample(true)))
	limits := Limits{Bits: 12}
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := Read(bytes.NewReader(file), limits)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, r); err != nil {
			return // vw's files may hold what we would not write, such as an id of two lines
		}
		again, err := Read(bytes.NewReader(b.Bytes()), limits)
		if err != nil {
			t.Fatalf("written by us, not readable by us: %v", err)
		}
		if !bytes.Equal(b.Bytes(), encoded(t, again)) {
			t.Fatal("written twice, two different files")
		}
	})
}
