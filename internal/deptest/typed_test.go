// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// typed is a package of this module with its types, as it is built on this system.
type typed struct {
	dir   string // from the repository's root
	files []*ast.File
	types *types.Package
	info  *types.Info
}

// typedPackages type-checks the packages that match the patterns, without their tests.
// The types of imported packages are read from the build cache.
func typedPackages(t *testing.T, patterns ...string) []*typed {
	t.Helper()
	exports := map[string]string{}
	for line := range strings.Lines(goList(t, append([]string{"-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, patterns...)...)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[path] = file
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	base, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	var all []*typed
	for line := range strings.Lines(goList(t, append([]string{"-f", "{{.ImportPath}}\t{{.Dir}}\t{{.GoFiles}}"}, patterns...)...)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		dir, err := filepath.Rel(base, f[1])
		if err != nil {
			t.Fatal(err)
		}
		p := &typed{dir: filepath.ToSlash(dir)}
		for name := range strings.FieldsSeq(strings.Trim(f[2], "[]")) {
			file, err := parser.ParseFile(fset, filepath.Join(f[1], name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			p.files = append(p.files, file)
		}
		p.check(t, f[0], fset, imports)
		all = append(all, p)
	}
	return all
}

// check finds the types of a package.
func (p *typed) check(t *testing.T, path string, fset *token.FileSet, imports types.Importer) {
	t.Helper()
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: imports}
	var err error
	if p.types, err = config.Check(path, fset, p.files, p.info); err != nil {
		t.Fatal(err)
	}
}

// check returns a package of one file that imports the standard library only.
func check(t *testing.T, text string) *typed {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	// A test built with -trimpath does not hold the path of the standard library.
	if build.Default.GOROOT == "" {
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			t.Fatal(err)
		}
		build.Default.GOROOT = strings.TrimSpace(string(out))
	}
	p := &typed{dir: "p", files: []*ast.File{file}}
	p.check(t, "p", fset, importer.ForCompiler(fset, "source", nil))
	return p
}

func goList(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v\n%s", args, err, &stderr)
	}
	return string(out)
}

// function is a function of this module, with its name in the form of the tables.
type function struct {
	pkg  *typed
	name string // "dir: f", or "dir: T.f" for a method of T or *T
	decl *ast.FuncDecl
}

// functions lists the functions with a body, in the order of names.
func functions(all []*typed) []function {
	var found []function
	for _, p := range all {
		for _, file := range p.files {
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Body == nil {
					continue
				}
				name := f.Name.Name
				if f.Recv != nil {
					name = receiver(f.Recv.List[0].Type) + "." + name
				}
				found = append(found, function{p, fmt.Sprintf("%s: %s", p.dir, name), f})
			}
		}
	}
	slices.SortFunc(found, func(a, b function) int { return strings.Compare(a.name, b.name) })
	return found
}

// callee returns the function or method that a call names; nil: it is a value.
func (p *typed) callee(call *ast.CallExpr) *types.Func {
	var id *ast.Ident
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	case *ast.IndexExpr: // instantiated
		if x, ok := f.X.(*ast.Ident); ok {
			id = x
		}
	}
	f, _ := p.info.Uses[id].(*types.Func)
	return f
}
