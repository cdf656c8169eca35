// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A pattern made from a name matches only that name.
func TestEscape(t *testing.T) {
	dir := t.TempDir()
	odd := "a[1]?*{b}"
	if runtime.GOOS == "windows" {
		odd = "a[1]{b}" // no other signs are allowed there
	}
	for _, name := range []string{odd, "a1", "a[1]xy{b}", "a[1]"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	infos, err := Local{}.List(t.Context(), Escape(filepath.Join(dir, odd)))
	if err != nil || len(infos) != 1 || infos[0].Name != filepath.Join(dir, odd) {
		t.Errorf("got %v, %v; want only %s", infos, err, odd)
	}
}
