// SPDX-License-Identifier: Apache-2.0

package invariant_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// TestReleasesHoldNoCheck builds the programs without and with the tag, and searches them
// for the texts of all checks: a text is in a program if the compiler has kept its check.
func TestReleasesHoldNoCheck(t *testing.T) {
	if testing.Short() {
		t.Skip("sampled: builds the programs twice")
	}
	t.Parallel()
	texts := checkTexts(t)
	if len(texts) == 0 {
		t.Fatal("no check found in the sources")
	}
	release, checked := programs(t), programs(t, "-tags", "invariant")
	for text, place := range texts {
		if bytes.Contains(release, []byte(text)) {
			t.Errorf("%s: a release holds the check %q: guard it by if invariant.Enabled", place, text)
		}
		if !bytes.Contains(checked, []byte(text)) {
			t.Errorf("%s: no build with -tags invariant holds the check %q", place, text)
		}
	}
}

// programs returns the bytes of all commands, built with the given flags.
func programs(t *testing.T, flags ...string) []byte {
	t.Helper()
	dir := t.TempDir() + string(filepath.Separator)
	args := append([]string{"build", "-o", dir, "-ldflags=-w"}, flags...)
	cmd := exec.Command("go", append(args, "./cmd/...")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	files, err := filepath.Glob(dir + "*")
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return all
}

// checkTexts returns the format of each call of Check and Fail in the product, and where
// it is.
func checkTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, dir := range []string{"allreduce", "feature", "hdfsio", "internal", "learn", "loss", "model", "optim"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if text := checkText(n); text != "" {
					texts[text] = fset.Position(n.Pos()).String()
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}

// checkText returns the format of a call of Check or Fail, "" of anything else.
func checkText(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return ""
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if pkg, ok := f.X.(*ast.Ident); !ok || pkg.Name != "invariant" {
		return ""
	}
	at, ok := map[string]int{"Check": 1, "Fail": 0}[f.Sel.Name]
	if !ok || len(call.Args) <= at {
		return ""
	}
	format, ok := call.Args[at].(*ast.BasicLit)
	if !ok {
		return ""
	}
	text, err := strconv.Unquote(format.Value)
	if err != nil {
		return ""
	}
	return text
}
