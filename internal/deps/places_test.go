// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// spoken writes a module that has one place of each kind.
func spoken(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range map[string]string{
		"README.md": "# A title is no place\n\n```\ncode is no place of a document either\n```\n\nA paragraph of a document has at\nleast eight words.\n",
		"a.go":      "// SPDX-License-Identifier: Apache-2.0\n\n// Package a has a comment.\npackage a\n\nimport (\"errors\"; \"log/slog\")\n\ntype s struct{ help string }\n\nvar (\n\terr  = errors.New(\"cannot read \" + \"the file\")\n\tflag = s{help: \"read the file\"}\n)\n\nfunc f(l *slog.Logger) { l.Warn(\"a rank was lost\", \"rank\", 1); _ = errors.New(\"short\") }\n",
		"a_test.go": "package a\n\n// A comment of a test is no place.\n",
	} {
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestPlacesOfEachKind(t *testing.T) {
	var out strings.Builder
	if err := printPlaces(&out, spoken(t), 9, 1); err != nil {
		t.Fatal(err)
	}
	want := `README.md:7 (document)
    A paragraph of a document has at
    least eight words.
a.go:3 (comment)
    Package a has a comment.
a.go:11 (error)
    cannot read the file
a.go:12 (help)
    read the file
a.go:15 (log)
    a rank was lost
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestASeedDrawsTheSamePlaces(t *testing.T) {
	draw := func(seed uint64) string {
		var out strings.Builder
		if err := printPlaces(&out, ".", 6, seed); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if a, b := draw(1), draw(1); a != b {
		t.Errorf("the same seed drew two lists:\n%s\n%s", a, b)
	}
	if draw(1) == draw(2) {
		t.Error("two seeds drew the same list")
	}
}
