// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestWithOptions(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"no field":                    "no field",
		"learn.Config.Reg.L2: -1":     "--l2: -1",
		"give learn.Config.Reg.L2.":   "give --l2.",
		"(learn.Config.OAA.Classes)":  "(--oaa)",
		"learn.Config.Reg.L2=3: no":   "--l2 3: no",
		"learn.Config.FTRL.Rule=coin": "--coin",
		"set learn.Config.FTRL.Rule":  "set --ftrl, --pistol, --coin or --freegrad",
		"give stream.Config.Format=csv csv.Config.Label=COLUMN (the": "give --csv --label COLUMN (the",
		"csv.Config.Separator=';', and":                              "--csv_separator ';', and",
		"allreduce.Config.OnLoss=wait, auth.Credentials.Secret":      "--on_loss wait, --secret_file",
		"learn.Config.Reg.L3 and other.Config.X=1":                   "learn.Config.Reg.L3 and other.Config.X=1",
		".Config. at the start":                                      ".Config. at the start",
	} {
		if got := WithOptions(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestFieldsInMessagesHaveOptions checks that each field that a library names in a message has an
// option: otherwise a user would see the name of a Go field.
func TestFieldsInMessagesHaveOptions(t *testing.T) {
	name := regexp.MustCompile(`\b(learn|stream|csv|hdfs|allreduce)\.Config(\.[A-Z]\w*)+|\b(auth\.Credentials|checkpoint\.Store|loss\.Params)\.[A-Z]\w*`)
	usage := regexp.MustCompile(`^[A-Z]\w*(\.[A-Z]\w*)*$`)
	root := filepath.Join("..", "..")
	found := 0
	check := func(file, field string) {
		found++
		if fieldOptions()[field] == "" && !slices.Contains(noOption, strings.TrimPrefix(field, "learn.Config.")) {
			t.Errorf("%s: a message names %s, for which WithOptions has no option", file, field)
		}
	}
	for _, dir := range []string{"learn", "allreduce", "feature", "hdfsio", "internal", "loss", "model", "optim"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BasicLit:
					if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
						for _, field := range name.FindAllString(text, -1) {
							check(path, field)
						}
					}
				case *ast.CallExpr: // of a function that makes a learn.UsageError
					f, ok := n.Fun.(*ast.SelectorExpr)
					if !ok || len(n.Args) == 0 || !slices.Contains([]string{"New", "Add", "Negative"}, f.Sel.Name) {
						return true
					}
					if lit, ok := n.Args[0].(*ast.BasicLit); ok && len(n.Args) > 1 {
						if field, err := strconv.Unquote(lit.Value); err == nil && usage.MatchString(field) && dir == "learn" {
							check(path, "learn.Config."+field)
						}
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 50 {
		t.Errorf("%d names of fields found, want more: does the test still read the messages?", found)
	}
}
