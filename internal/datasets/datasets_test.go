// SPDX-License-Identifier: Apache-2.0

package datasets

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFile(t *testing.T) {
	dir := t.TempDir()
	want := filepath.Join(dir, "data", "set", "train")
	if err := os.MkdirAll(filepath.Dir(want), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(want, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return map[string]string{"GVW_SHARED": dir}[name] }
	if got := File(t, getenv, "set", "train"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := beside(); err != nil || got != filepath.Join(root, "..", "shared") {
		t.Errorf("got %s and %v, want shared beside %s", got, err, root)
	}
}
