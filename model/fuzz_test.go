// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"path/filepath"
	"testing"
)

// FuzzRead reads arbitrary bytes. An accepted model can be written and read again as the same
// model.
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
	f.Add(encoded(f, treeModel(treeSection())))
	limits := Limits{Bits: 12}
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := Read(bytes.NewReader(file), limits)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, r); err != nil {
			return // files of vw may have contents that Write refuses, such as an id of two lines
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
