// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A file has the header and all points; names with commas are quoted.
func TestFileOfAFigure(t *testing.T) {
	dir := t.TempDir()
	f := Figure{
		Name: "f", Title: "T", X: "x", Y: "y", LogY: true, Notes: "n",
		Seed: "7", Origin: Origin{"abc", "a machine", "2026-11-24"},
		Lines: []Line{{"one, two", []Point{{1, 0.25}, {2, 1e-9}}}},
	}
	if err := f.Write(dir, "go run"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "f.csv"))
	if err != nil {
		t.Fatal(err)
	}
	want := "# title: T\n# x: x\n# y: y\n# logy: yes\n# notes: n\n# command: go run\n# seed: 7\n# commit: abc\n# machine: a machine\n# date: 2026-11-24\nseries,x,y\n\"one, two\",1,0.25\n\"one, two\",2,1e-09\n"
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("got %d files, want 1", len(entries))
	}
}
