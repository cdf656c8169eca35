// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// pkg is a package of the module.
type pkg struct {
	dir     string          // from the module's root
	imports map[string]bool // folders of imported packages of the module
	files   []*file         // by name
	layer   int
	layered bool // layer is set
}

// file is a file with the names that it declares and uses: those of package level, and
// unexported methods, which begin with a dot.
type file struct {
	name     string
	declares []string
	uses     map[string]bool // names that the file itself does not declare
}

// add reads a file of the package.
func (p *pkg) add(path, module string) error {
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return err
	}
	f := &file{name: filepath.Base(path), uses: map[string]bool{}}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if dir, ours := strings.CutPrefix(imported, module+"/"); ours {
			p.imports[dir] = true
		}
	}
	for _, d := range parsed.Decls {
		f.declares = append(f.declares, declared(d)...)
	}
	for _, id := range parsed.Unresolved {
		f.uses[id.Name] = true
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && !sel.Sel.IsExported() && !slices.Contains(f.declares, "."+sel.Sel.Name) {
			f.uses["."+sel.Sel.Name] = true
		}
		return true
	})
	p.files = append(p.files, f)
	return nil
}

// declared lists the names that a declaration adds. Exported methods are left out: without
// types, their calls cannot be distinguished from those of other packages' methods.
func declared(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		switch {
		case d.Recv != nil && !d.Name.IsExported():
			names = append(names, "."+d.Name.Name)
		case d.Recv == nil && d.Name.Name != "init":
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

// references counts the names of file j that file i uses. A method that several files
// declare, for several types, is not counted.
func (p *pkg) references() [][]int {
	n := len(p.files)
	where := map[string][]int{}
	for j, f := range p.files {
		for _, name := range f.declares {
			where[name] = append(where[name], j)
		}
	}
	refs := make([][]int, n)
	for i, f := range p.files {
		refs[i] = make([]int, n)
		for name := range f.uses {
			if strings.HasPrefix(name, ".") && len(where[name]) > 1 {
				continue
			}
			for _, j := range where[name] {
				if i != j {
					refs[i][j]++
				}
			}
		}
	}
	return refs
}

// order lists the files from top to bottom so that few references run upwards. It is the
// heuristic of Eades, Lin and Smyth (1993): a file to which no other refers goes to the
// top, a file that refers to no other to the bottom; if there is neither, the file with
// the largest surplus of references goes to the top.
func order(refs [][]int) []int {
	left := map[int]bool{}
	for i := range refs {
		left[i] = true
	}
	var top, bottom []int
	for len(left) > 0 {
		best, surplus, sink := -1, 0, -1
		for _, i := range slices.Sorted(maps.Keys(left)) {
			from, to := 0, 0
			for j := range left {
				from, to = from+refs[i][j], to+refs[j][i]
			}
			if from == 0 {
				sink = i // the last by name is lowest
			}
			if to == 0 {
				from += 1 << 20
			}
			if best < 0 || from-to > surplus {
				best, surplus = i, from-to
			}
		}
		if sink >= 0 {
			bottom = append(bottom, sink)
			delete(left, sink)
			continue
		}
		top = append(top, best)
		delete(left, best)
	}
	slices.Reverse(bottom)
	return append(top, bottom...)
}

// drawFiles prints the files of a package from top to bottom, each with the files to which
// it refers. References to files above are upward; ^ marks them.
func drawFiles(out io.Writer, p *pkg) {
	refs := p.references()
	sorted := order(refs)
	place := make([]int, len(sorted))
	for at, i := range sorted {
		place[i] = at
	}
	pairs, upward := 0, 0
	rows := make([][]string, len(sorted))
	for at, i := range sorted {
		for _, j := range sorted {
			if refs[i][j] == 0 {
				continue
			}
			pairs++
			name := strings.TrimSuffix(p.files[j].name, ".go")
			if place[j] < at {
				upward++
				name = "^" + name
			}
			rows[at] = append(rows[at], name)
		}
	}
	fmt.Fprintf(out, "%s: %d files, %d references between files, %d upward\n", p.dir, len(p.files), pairs, upward)
	for at, i := range sorted {
		fmt.Fprintf(out, "  %s\n", p.files[i].name)
		wrapped(out, "      ", rows[at])
	}
	fmt.Fprintln(out)
}
