// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// concurrentImports are packages of the standard library for code that several goroutines run.
var concurrentImports = []string{"sync", "sync/atomic", "testing/synctest", "golang.org/x/sync/errgroup"}

// TestPackagesWithoutRaceDetector checks that the packages that scripts/test.sh runs without the race detector, and their
// tests, start no goroutines and have no channels or locks.
func TestPackagesWithoutRaceDetector(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, "scripts/test.sh"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^sequential="([^"]+)"$`).FindSubmatch(script)
	if m == nil {
		t.Fatal("scripts/test.sh has no list of sequential packages")
	}
	all, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range strings.Fields(string(m[1])) {
		found := false
		for _, s := range all {
			if s.dir != dir {
				continue
			}
			found = true
			if what, line := concurrency(s); what != "" {
				t.Errorf("%s:%d: %s: remove %s from the list sequential in scripts/test.sh, so that the race detector checks it", s.path, line, what, dir)
			}
		}
		if !found {
			t.Errorf("scripts/test.sh: the list sequential has %s, which does not exist", dir)
		}
	}
}

// concurrency returns what a file has for several goroutines, and its line, or "".
func concurrency(s *source) (what string, line int) {
	for _, i := range s.file.Imports {
		if path := strings.Trim(i.Path.Value, `"`); slices.Contains(concurrentImports, path) {
			return "imports " + path, s.line(i.Pos())
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if what != "" || n == nil {
			return false
		}
		switch n := n.(type) {
		case *ast.GoStmt:
			what = "has a go statement"
		case *ast.ChanType:
			what = "has a channel"
		case *ast.CallExpr:
			if f, is := n.Fun.(*ast.SelectorExpr); is && f.Sel.Name == "Go" {
				what = "calls a method Go"
			}
		}
		if what != "" {
			line = s.line(n.Pos())
		}
		return true
	})
	return what, line
}
