// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// banned maps functions that library packages must not use to the alternative. A name that
// ends in a dot stands for the whole package.
var banned = map[string]string{
	"fmt.Print":    "return a value or write to an injected io.Writer",
	"fmt.Printf":   "return a value or write to an injected io.Writer",
	"fmt.Println":  "return a value or write to an injected io.Writer",
	"os.Stdout":    "write to an injected io.Writer",
	"os.Stderr":    "write to an injected io.Writer or slog.Logger",
	"os.Stdin":     "read from an injected io.Reader",
	"os.Exit":      "return an error",
	"os.Args":      "take a Config",
	"os.Getenv":    "take a Config: commands read the environment",
	"os.LookupEnv": "take a Config: commands read the environment",
	"os.Environ":   "take a Config: commands read the environment",
	"flag.":        "take a Config: commands read flags",
}

func TestLibrariesNeverPrintExitOrReadTheEnvironment(t *testing.T) {
	for _, s := range allSources(t) {
		if s.test || s.command() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if !ok || !imports(s, pkg.Name) {
				return true
			}
			why := banned[pkg.Name+"."+sel.Sel.Name]
			if why == "" {
				why = banned[pkg.Name+"."]
			}
			if why != "" {
				t.Errorf("%s:%d: %s.%s in a library package: %s", s.path, s.line(n.Pos()), pkg.Name, sel.Sel.Name, why)
			}
			return true
		})
	}
}

// imports reports whether the file imports the package of that path under its
// own name.
func imports(s *source, name string) bool {
	for _, spec := range s.file.Imports {
		if strings.Trim(spec.Path.Value, `"`) == name && spec.Name == nil {
			return true
		}
	}
	return false
}

// A library panics only for an error in the program, never for invalid input. The text of such a
// panic begins with BUG.
func TestPanicsBeginWithBUG(t *testing.T) {
	for _, s := range allSources(t) {
		if s.test {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, ok := call.Fun.(*ast.Ident); !ok || f.Name != "panic" || len(call.Args) != 1 {
				return true
			}
			if text := firstString(call.Args[0]); !strings.Contains(text, "BUG:") {
				t.Errorf("%s:%d: panic without BUG: in its text: return an error unless the program is wrong", s.path, s.line(n.Pos()))
			}
			return true
		})
	}
}

// firstString returns the first string literal in an expression.
func firstString(e ast.Expr) string {
	text := ""
	ast.Inspect(e, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && text == "" {
			text = lit.Value
		}
		return text == ""
	})
	return text
}
