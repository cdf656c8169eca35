// SPDX-License-Identifier: Apache-2.0

// Command typecheck reports whether packages compile for other systems, processors and build tags:
//
//	go run ./internal/typecheck -target darwin/arm64 -target windows/amd64 ./...
//	go run ./internal/typecheck -tags noasm ./...
//
// It finds the types of all packages and of those that they import from their sources, without
// generating code. A build for a system that the build cache does not have takes about 200 s of
// processor time, this a few seconds. It reports what the compiler does before it generates code,
// besides functions without a body in packages without assembly; it neither assembles nor links.
// cgo is off. Tests are not checked.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	tags := flag.String("tags", "", "build tags, separated by commas")
	targets := []string{}
	flag.Func("target", "`OS/PROCESSOR` to check for, may be repeated [this system]", func(s string) error {
		if os, processor, ok := strings.Cut(s, "/"); !ok || os == "" || processor == "" {
			return errors.New("want one such as linux/arm64")
		}
		targets = append(targets, s)
		return nil
	})
	flag.Parse()
	if len(targets) == 0 {
		targets = []string{runtime.GOOS + "/" + runtime.GOARCH}
	}
	failed := false
	for _, target := range targets {
		n, err := check(".", target, *tags, flag.Args())
		if err != nil {
			fmt.Fprintf(os.Stderr, "typecheck: %s: %v\n", target, err)
			failed = true
			continue
		}
		fmt.Printf("%s: %d packages\n", target, n)
	}
	if failed {
		os.Exit(1)
	}
}

// listed has the fields of `go list -json` that are used here.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	SFiles     []string
	ImportMap  map[string]string
	DepOnly    bool // it is only imported
	Module     *struct{ GoVersion string }
	Error      *struct{ Err string }
}

const fields = "-json=ImportPath,Dir,GoFiles,SFiles,ImportMap,DepOnly,Module,Error"

// check type-checks the packages that match the patterns and returns their number.
func check(dir, target, tags string, patterns []string) (n int, err error) {
	goos, goarch, _ := strings.Cut(target, "/")
	cmd := exec.Command("go", append([]string{"list", "-e", "-deps", "-tags", tags, fields}, patterns...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("go list: %w\n%s", err, &stderr)
	}
	c := checker{fset: token.NewFileSet(), sizes: types.SizesFor("gc", goarch), done: map[string]*types.Package{"unsafe": types.Unsafe}}
	if c.sizes == nil {
		return 0, fmt.Errorf("the compiler has no processor %s", goarch)
	}
	// A package comes after those that it imports.
	for packages := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return 0, err
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		c.add(&p)
		if !p.DepOnly {
			n++
		}
	}
	if n == 0 && len(c.faults) == 0 {
		return 0, fmt.Errorf("no package matches %q", patterns)
	}
	return n, errors.Join(c.faults...)
}

// checker finds the types of packages.
type checker struct {
	fset   *token.FileSet
	sizes  types.Sizes
	done   map[string]*types.Package // by import path
	faults []error
}

// add finds the types of a package. The bodies of functions matter only in those that are not
// merely imported.
func (c *checker) add(p *listed) {
	if p.Error != nil {
		c.faults = append(c.faults, errors.New(p.Error.Err))
		return
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(c.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			c.faults = append(c.faults, err)
			return
		}
		if !p.DepOnly && len(p.SFiles) == 0 {
			c.bodies(file)
		}
		files = append(files, file)
	}
	config := types.Config{
		Importer: mapped{c.done, p.ImportMap}, Sizes: c.sizes, IgnoreFuncBodies: p.DepOnly,
		Error: func(err error) { c.faults = append(c.faults, err) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	c.done[p.ImportPath], _ = config.Check(p.ImportPath, c.fset, files, nil) // Error has the faults
}

// bodies reports functions that have no body and are not linked from elsewhere.
func (c *checker) bodies(file *ast.File) {
	linked := map[string]bool{}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if words := strings.Fields(comment.Text); len(words) > 1 && words[0] == "//go:linkname" {
				linked[words[1]] = true
			}
		}
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body == nil && !linked[f.Name.Name] {
			c.faults = append(c.faults, fmt.Errorf("%s: missing function body", c.fset.Position(f.Pos())))
		}
	}
}

// mapped imports packages by the paths of an importing package.
type mapped struct {
	done  map[string]*types.Package
	paths map[string]string // of vendored packages
}

func (m mapped) Import(path string) (*types.Package, error) {
	if full, ok := m.paths[path]; ok {
		path = full
	}
	if p := m.done[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}
