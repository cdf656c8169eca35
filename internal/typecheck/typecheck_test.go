// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module writes a module of the given files to a new directory.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.org/m\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFaultsAreThoseOfTheTarget(t *testing.T) {
	t.Parallel()
	dir := module(t, map[string]string{
		"a/a.go":         "package a\n\nimport \"example.org/m/b\"\n\nconst Size = b.Size\n",
		"a/a_windows.go": "package a\n\nvar _ = missing\n",
		"a/wide.go":      "package a\n\nvar _ uint = 1 << 40\n",
		"a/tag.go":       "//go:build special\n\npackage a\n\nfunc f() { x := 1 }\n",
		"a/asm_arm64.go": "package a\n\nfunc bodiless()\n",
		"b/b_linux.go":   "package b\n\nimport \"errors\"\n\nconst Size = 1\n\nvar _ = errors.New\n",
		"b/b.go":         "//go:build !linux && !plan9\n\npackage b\n\nconst Size = 2\n",
	})
	for _, c := range []struct {
		target, tags string
		want         string // in the error; "": there is none
	}{
		{"linux/amd64", "", ""},
		{"darwin/amd64", "", ""},
		{"windows/amd64", "", "undefined: missing"},
		{"linux/386", "", "1 << 40"},
		{"linux/amd64", "special", "declared and not used: x"},
		{"linux/arm64", "", "missing function body"},
		{"plan9/amd64", "", "build constraints exclude all Go files"},
		{"linux/vax", "", "vax"},
	} {
		n, err := check(dir, c.target, c.tags, []string{"./..."})
		switch {
		case c.want == "" && (err != nil || n != 2):
			t.Errorf("%s %s: %d packages, %v; want 2 and no error", c.target, c.tags, n, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s %s: got %v, want %q", c.target, c.tags, err, c.want)
		}
	}
	if _, err := check(dir, "linux/amd64", "", []string{"./a/c..."}); err == nil || !strings.Contains(err.Error(), "no package matches") {
		t.Errorf("a pattern without a package: %v", err)
	}
}

func TestAssemblyAndLinknamesReplaceBodies(t *testing.T) {
	t.Parallel()
	dir := module(t, map[string]string{
		"a.go":          "package m\n\nimport _ \"unsafe\"\n\n//go:linkname linked example.org/m.other\nfunc linked()\n",
		"b/b.go":        "package b\n\nfunc assembled()\n",
		"b/b_amd64.s":   "TEXT ·assembled(SB), 0, $0\n\tRET\n",
		"b/b_riscv64.s": "",
	})
	if n, err := check(dir, "linux/amd64", "", []string{"./..."}); err != nil || n != 2 {
		t.Errorf("%d packages, %v; want 2 and no error", n, err)
	}
}
