// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// module writes a small module and returns its folder.
func module(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range map[string]string{
		"go.mod":          "module example.org/m\n\ngo 1.26\n",
		"cmd/m/main.go":   "package main\nimport (\n\t\"fmt\"\n\t\"example.org/m/a\"\n)\nfunc main() { fmt.Println(a.F()) }\n",
		"a/a.go":          "package a\nimport \"example.org/m/b\"\nfunc F() int { T{}.m(); return helper(b.N) + T{low: 1}.low }\n",
		"a/helper.go":     "package a\nfunc helper(n int) int { low := n; return low + limit }\ntype T struct{ low int }\n",
		"a/low.go":        "package a\nconst limit = 3\nfunc low() int { return helper(limit) }\nfunc (T) F() {}\nfunc (T) m() {}\n",
		"a/a_linux.go":    "//go:build linux\n\npackage a\nimport _ \"example.org/m/c\"\n",
		"a/a_test.go":     "package a\nimport _ \"example.org/m/testing\"\n",
		"a/testdata/x.go": "package x\n",
		"b/b.go":          "package b\nimport _ \"example.org/m/c\"\nconst N = 1\n",
		"c/c.go":          "package c\n",
		"nested/go.mod":   "module example.org/nested\n",
		"nested/n.go":     "package nested\n",
	} {
		file := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestLayers(t *testing.T) {
	var got strings.Builder
	if err := draw(&got, module(t), false, nil); err != nil {
		t.Fatal(err)
	}
	_, layers, _ := strings.Cut(got.String(), "\n\nlayer")
	want := " 3\n  cmd/m\n      a\n\nlayer 2\n  a\n      b c\n\nlayer 1\n  b\n      c\n\nlayer 0\n  c\n"
	if diff := cmp.Diff(want, layers); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// helper and low refer to each other, so one of both references is upward. Neither a field
// named low nor a local variable is a reference.
func TestUpwardReferencesAreMarked(t *testing.T) {
	var got strings.Builder
	if err := draw(&got, module(t), true, []string{"./a"}); err != nil {
		t.Fatal(err)
	}
	want := `a: 4 files, 4 references between files, 1 upward
  a.go
      low helper
  low.go
      helper
  helper.go
      ^low
  a_linux.go

`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPackagesThatCannotBeDrawn(t *testing.T) {
	root := module(t)
	for _, c := range []struct {
		files bool
		dir   string
		want  string
	}{
		{true, "d", "there is no package in d"},
		{false, "a", "packages are named without -files: add it"},
	} {
		if err := draw(&strings.Builder{}, root, c.files, []string{c.dir}); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %q", c.dir, err, c.want)
		}
	}
}
