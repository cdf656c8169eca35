// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"errors"
	"flag"
	"fmt"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite api/*.txt")

// public are the packages for users of the library.
var public = []string{
	"allreduce", "allreduce/schedule", "allreduce/topo",
	"optim", "optim/cg", "optim/descent", "optim/ftrl", "optim/lbfgs", "optim/masgd", "optim/newton", "optim/oaa", "optim/outer", "optim/sgd",
	"loss", "feature", "model", "hdfsio", "malt", "malt/graph", "malt/pipe", "learn/factor", "learn/lda", "learn/nn", "learn/svm", "option",
}

// TestPublicAPI compares the exported identifiers of each public package with
// api/PACKAGE.txt, so that a change of the API is visible in the commit that makes it.
func TestPublicAPI(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the lists are those of Linux: other systems lack some constants")
	}
	var patterns []string
	files := map[string]bool{}
	for _, dir := range public {
		patterns = append(patterns, "./"+dir)
		files[apiFile(dir)] = true
	}
	for _, p := range typedPackages(t, patterns...) {
		got, path := strings.Join(apiOf(p.types), "\n")+"\n", filepath.Join(root, apiFile(p.dir))
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("the API of %s differs from %s; if the change is wanted: go test ./internal/deptest -run TestPublicAPI -update\n%s", p.dir, apiFile(p.dir), diff)
		}
	}
	have, err := filepath.Glob(filepath.Join(root, "api", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range have {
		if name := "api/" + filepath.Base(path); !files[name] {
			t.Errorf("%s is the list of no public package", name)
		}
	}
}

// apiFile returns the list of a package.
func apiFile(dir string) string { return "api/" + strings.ReplaceAll(dir, "/", "-") + ".txt" }

// apiOf lists the exported identifiers of a package with their fields and methods, one
// per line and sorted. An alias of a type of an internal package is listed like a type
// of its own, since users have no other name for it.
func apiOf(pkg *types.Package) []string {
	own := func(p *types.Package) bool {
		return p == pkg || strings.HasPrefix(p.Path(), module+"/") && strings.Contains(p.Path(), "/internal/")
	}
	print := func(t types.Type) string {
		return types.TypeString(t, func(p *types.Package) string {
			if own(p) {
				return ""
			}
			return p.Name()
		})
	}
	var lines []string
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		switch o := o.(type) {
		case *types.Const:
			lines = append(lines, fmt.Sprintf("const %s %s = %s", name, print(o.Type()), o.Val().ExactString()))
		case *types.Var:
			lines = append(lines, "var "+name+" "+print(o.Type()))
		case *types.Func:
			lines = append(lines, "func "+name+strings.TrimPrefix(print(o.Type()), "func"))
		case *types.TypeName:
			lines = append(lines, apiOfType(o, own, print)...)
		}
	}
	slices.Sort(lines)
	return lines
}

// apiOfType lists a type, its exported fields and its methods.
func apiOfType(o *types.TypeName, own func(*types.Package) bool, print func(types.Type) string) []string {
	name, t := o.Name(), types.Unalias(o.Type())
	named, ok := t.(*types.Named)
	if o.IsAlias() && (!ok || !own(named.Obj().Pkg())) {
		return []string{"type " + name + " = " + print(t)}
	}
	if params := named.TypeParams(); params.Len() > 0 {
		var names []string
		for p := range params.TypeParams() {
			names = append(names, p.Obj().Name()+" "+print(p.Constraint()))
		}
		name += "[" + strings.Join(names, ", ") + "]"
	}
	var lines []string
	hidden := false
	switch u := named.Underlying().(type) {
	case *types.Struct:
		lines = append(lines, "type "+name+" struct")
		for f := range u.Fields() {
			switch {
			case f.Exported() && f.Embedded():
				lines = append(lines, "type "+name+" struct, embedded "+print(f.Type()))
			case f.Exported():
				lines = append(lines, "type "+name+" struct, "+f.Name()+" "+print(f.Type()))
			}
		}
	case *types.Interface:
		lines = append(lines, "type "+name+" interface")
		for m := range u.Methods() {
			if hidden = hidden || !m.Exported(); m.Exported() {
				lines = append(lines, "type "+name+" interface, "+m.Name()+strings.TrimPrefix(print(m.Type()), "func"))
			}
		}
		if hidden {
			lines = append(lines, "type "+name+" interface, unexported methods")
		}
		return lines
	default:
		lines = append(lines, "type "+name+" "+print(u))
	}
	methods := types.NewMethodSet(types.NewPointer(named))
	for s := range methods.Methods() {
		m := s.Obj().(*types.Func)
		if !m.Exported() || m.Pkg() != named.Obj().Pkg() && std(m.Pkg().Path()) {
			continue
		}
		recv := name
		if _, pointer := m.Signature().Recv().Type().(*types.Pointer); pointer {
			recv = "*" + name
		}
		lines = append(lines, "method ("+recv+") "+m.Name()+strings.TrimPrefix(print(s.Type()), "func"))
	}
	return lines
}

// The list of a package with an identifier of each kind.
func TestAPIOfAPackage(t *testing.T) {
	p := check(t, `package p
import "io"
const C = 7
type Kind uint8
const K Kind = 1
var Err error
func F[T any](x T, _ ...int) (n int, err error) { return 0, nil }
func f() {}
type base struct{ Hidden int }
func (base) Promoted() {}
type S struct { A, b int; base; io.Reader }
func (*S) M(w io.Writer) {}
func (S) unexported() {}
type I interface { Do(int) error; not() }
type W = io.Writer
type G[T comparable] struct { V T }
func (g G[T]) Get() T { return g.V }
`)
	want := []string{
		"const C untyped int = 7",
		"const K Kind = 1",
		"func F[T any](x T, _ ...int) (n int, err error)",
		"method (*S) M(w io.Writer)",
		"method (G[T comparable]) Get() T",
		"method (S) Promoted()",
		"type G[T comparable] struct",
		"type G[T comparable] struct, V T",
		"type I interface",
		"type I interface, Do(int) error",
		"type I interface, unexported methods",
		"type Kind uint8",
		"type S struct",
		"type S struct, A int",
		"type S struct, embedded io.Reader",
		"type W = io.Writer",
		"var Err error",
	}
	if diff := cmp.Diff(want, apiOf(p.types)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
