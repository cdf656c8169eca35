// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/gvw-project/gvw"
)

// source is one Go file of the repository. Files with build constraints are
// included: the rules hold for every platform.
type source struct {
	path string // from the repository's root, with slashes
	dir  string // the package's folder, "" for the root
	test bool
	text string
	file *ast.File
	fset *token.FileSet
}

// command reports whether the file belongs to a program.
func (s *source) command() bool { return s.file.Name.Name == "main" }

// line returns the line of pos.
func (s *source) line(pos token.Pos) int { return s.fset.Position(pos).Line }

// skipped reports whether a folder is not part of the module, or has no code of the product.
func skipped(name string) bool {
	return name == "testdata" || name == "tools" || name == "bin" || (strings.HasPrefix(name, ".") && name != "." && name != "..")
}

// sources parses the repository's Go files, once for all tests.
var sources = sync.OnceValues(func() ([]*source, error) {
	var all []*source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); path != root && (err == nil || skipped(d.Name())) {
				return filepath.SkipDir // with a go.mod: another module, such as tests/containers
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		s := &source{path: filepath.ToSlash(rel), test: strings.HasSuffix(path, "_test.go"), text: string(text), fset: token.NewFileSet()}
		if i := strings.LastIndexByte(s.path, '/'); i >= 0 {
			s.dir = s.path[:i]
		}
		s.file, err = parser.ParseFile(s.fset, s.path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	return all, err
})

func allSources(t *testing.T) []*source {
	t.Helper()
	all, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("only %d Go files under %s: this is not the repository", len(all), root)
	}
	return all
}

// within reports whether path is the folder or module prefix, or lies below it.
func within(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

// withinAny reports whether path is within one of the prefixes. A prefix that
// begins with "=" matches only that package.
func withinAny(path string, prefixes []string) bool {
	for _, p := range prefixes {
		if exact, ok := strings.CutPrefix(p, "="); ok && path == exact || !ok && within(path, p) {
			return true
		}
	}
	return false
}
