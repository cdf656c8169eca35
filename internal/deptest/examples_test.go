// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"go/ast"
	"go/doc"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exampled are packages that must have an example although api/ does not list them: the
// formats and passes beside package feature.
var exampled = []string{"feature/cache", "feature/csr", "feature/csv", "feature/json", "feature/libsvm", "feature/parquet", "feature/stream"}

// TestEachPublicPackageHasAnExample also ensures that go test runs the examples: one
// without a comment on its output is only compiled.
func TestEachPublicPackageHasAnExample(t *testing.T) {
	tests := map[string][]*ast.File{}
	for _, s := range allSources(t) {
		if s.test {
			tests[s.dir] = append(tests[s.dir], s.file)
		}
	}
	for _, dir := range slices.Concat(public, exampled) {
		examples := doc.Examples(tests[dir]...)
		if len(examples) == 0 {
			t.Errorf("%s has no Example function: add one to %s/example_test.go", dir, dir)
		}
		for _, e := range examples {
			if e.Output == "" && !e.EmptyOutput {
				t.Errorf("%s: Example%s has no comment on its output, so go test does not run it", dir, e.Name)
			}
		}
	}
}

// exampledCalls are packages whose exported functions and methods are all called by an example.
var exampledCalls = []string{"malt", "malt/graph", "malt/pipe"}

// TestEachCallHasAnExample finds functions that no example of their package calls. Packages fmt and errors call the
// methods Error, String and Unwrap.
func TestEachCallHasAnExample(t *testing.T) {
	var patterns []string
	for _, dir := range exampledCalls {
		patterns = append(patterns, "./"+dir)
	}
	called := calledByExamples(t, patterns)
	for _, p := range typedPackages(t, patterns...) {
		for _, name := range exportedFunctions(p.types) {
			if !called[name] {
				t.Errorf("no example calls %s: add one to %s/example_test.go", name, p.dir)
			}
		}
	}
}

// exportedFunctions returns the full names of the exported functions and methods of a package, in order.
func exportedFunctions(pkg *types.Package) (names []string) {
	for _, name := range pkg.Scope().Names() {
		switch o := pkg.Scope().Lookup(name).(type) {
		case *types.Func:
			if o.Exported() {
				names = append(names, o.FullName())
			}
		case *types.TypeName:
			if !o.Exported() {
				continue
			}
			for m := range types.NewMethodSet(types.NewPointer(types.Unalias(o.Type()))).Methods() {
				f := m.Obj().(*types.Func)
				if f.Exported() && !std(f.Pkg().Path()) && !slices.Contains([]string{"Error", "String", "Unwrap"}, f.Name()) {
					names = append(names, f.FullName())
				}
			}
		}
	}
	return names
}

// calledByExamples returns the full names of the functions that the files with examples of some packages name.
func calledByExamples(t *testing.T, patterns []string) map[string]bool {
	t.Helper()
	imported := strings.Fields(strings.NewReplacer("[", " ", "]", " ").Replace(goList(t, append([]string{"-f", "{{.XTestImports}}"}, patterns...)...)))
	exports := map[string]string{}
	for line := range strings.Lines(goList(t, append([]string{"-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, imported...)...)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[path] = file
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	called := map[string]bool{}
	for _, dir := range patterns {
		paths, err := filepath.Glob(filepath.Join(root, dir, "*example*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		p := &typed{dir: dir}
		for _, path := range paths {
			file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			p.files = append(p.files, file)
		}
		p.check(t, "examples", fset, imports)
		for _, o := range p.info.Uses {
			if f, ok := o.(*types.Func); ok {
				called[f.Origin().FullName()] = true
			}
		}
	}
	return called
}
