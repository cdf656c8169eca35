// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// kinds are the kinds of places, in the order in which they take turns.
var kinds = []string{"document", "comment", "error", "help", "log"}

// place is a text for people and where it stands.
type place struct {
	path string // from the root, with slashes
	line int
	text string
}

// printPlaces prints n places of the module in root, drawn by the seed: as many of each
// kind as possible, none twice.
func printPlaces(out io.Writer, root string, n int, seed uint64) error {
	all, err := readPlaces(root)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for _, kind := range kinds {
		r.Shuffle(len(all[kind]), func(i, j int) { all[kind][i], all[kind][j] = all[kind][j], all[kind][i] })
	}
	for drawn := true; n > 0 && drawn; {
		drawn = false
		for _, kind := range kinds {
			if n == 0 || len(all[kind]) == 0 {
				continue
			}
			p := all[kind][0]
			all[kind] = all[kind][1:]
			fmt.Fprintf(out, "%s:%d (%s)\n", p.path, p.line, kind)
			for line := range strings.Lines(p.text) {
				fmt.Fprintf(out, "    %s\n", strings.TrimSuffix(line, "\n"))
			}
			n, drawn = n-1, true
		}
	}
	return nil
}

// readPlaces returns the places of the module by kind, in the order of the files.
func readPlaces(root string) (map[string][]place, error) {
	all := map[string][]place{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case strings.HasSuffix(path, ".md"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all["document"] = append(all["document"], paragraphs(rel, string(text))...)
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			return goPlaces(all, path, rel)
		}
		return nil
	})
	return all, err
}

// paragraphs returns the paragraphs of a document that are prose, list or table.
func paragraphs(path, text string) (all []place) {
	code, at := false, 0
	var lines []string
	end := func() {
		if joined := strings.Join(lines, "\n"); len(strings.Fields(joined)) >= 8 {
			all = append(all, place{path, at, joined})
		}
		lines = nil
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			code = !code
		}
		if code || fence || strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			end()
			continue
		}
		if len(lines) == 0 {
			at = number
		}
		lines = append(lines, line)
	}
	end()
	return all
}

// goPlaces adds the comments, errors, lines of the log and lines of help of a Go file.
func goPlaces(all map[string][]place, path, rel string) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	add := func(kind string, pos token.Pos, text string) {
		if len(strings.Fields(text)) >= 3 {
			all[kind] = append(all[kind], place{rel, fset.Position(pos).Line, text})
		}
	}
	for _, c := range file.Comments {
		if text := strings.TrimSpace(c.Text()); !strings.HasPrefix(text, "SPDX-") {
			add("comment", c.Pos(), text)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && strings.EqualFold(key.Name, "help") {
				add("help", n.Value.Pos(), literal(n.Value))
			}
		case *ast.CallExpr:
			kind := ""
			switch called(n) {
			case "errors.New", "fmt.Errorf":
				kind = "error"
			case "log", "complain", "Info", "Warn", "Error":
				kind = "log"
			}
			for _, arg := range n.Args {
				if text := literal(arg); kind != "" && text != "" {
					add(kind, arg.Pos(), text)
					break
				}
			}
		}
		return true
	})
	return nil
}

// called returns the name of the called function: pkg.Name for errors and fmt, else the
// last part only.
func called(call *ast.CallExpr) string {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if x, ok := f.X.(*ast.Ident); ok && (x.Name == "errors" || x.Name == "fmt") {
		return x.Name + "." + f.Sel.Name
	}
	return f.Sel.Name
}

// literal returns the value of a string literal or of a sum of some, "" of others.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, _ := strconv.Unquote(e.Value)
			return text
		}
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	}
	return ""
}
