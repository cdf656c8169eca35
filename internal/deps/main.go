// SPDX-License-Identifier: Apache-2.0

// Command deps draws the imports inside the module, and the references between the
// files of a package, as text.
//
//	go run ./internal/deps > docs/architecture.txt    the packages, by layers
//	go run ./internal/deps -files allreduce learn     the files of these packages
//	go run ./internal/deps -files                     the files of all packages
//	go run ./internal/deps -places 20 -seed 7         texts for people, to be read as a stranger
//
// It reads the files of all build tags, without tests, so its output does not depend
// on the system. A package is one layer above the highest package that it imports.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	root := flag.String("root", ".", "folder of go.mod")
	files := flag.Bool("files", false, "print the references between the files of the packages named as arguments [all]")
	places := flag.Int("places", 0, "print so many texts from documents, comments, errors, help and log lines [0]")
	seed := flag.Uint64("seed", 1, "seed that draws the texts of -places [1]")
	flag.Parse()
	if *places > 0 {
		if err := printPlaces(os.Stdout, *root, *places, *seed); err != nil {
			fmt.Fprintln(os.Stderr, "deps:", err)
			os.Exit(1)
		}
		return
	}
	if err := draw(os.Stdout, *root, *files, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "deps:", err)
		os.Exit(1)
	}
}

// draw prints one of the two pictures of the module in root.
func draw(out io.Writer, root string, files bool, dirs []string) error {
	if !files && len(dirs) > 0 {
		return errors.New("packages are named without -files: add it")
	}
	all, err := load(root)
	if err != nil {
		return err
	}
	if !files {
		drawPackages(out, all)
		return nil
	}
	if len(dirs) == 0 {
		dirs = slices.Sorted(maps.Keys(all))
	}
	for _, dir := range dirs {
		p := all[strings.TrimPrefix(filepath.ToSlash(filepath.Clean(dir)), "./")]
		if p == nil {
			return fmt.Errorf("there is no package in %s", dir)
		}
		drawFiles(out, p)
	}
	return nil
}

// modulePath reads the path of the module from go.mod.
func modulePath(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(path), nil
		}
	}
	return "", fmt.Errorf("%s/go.mod has no module line", root)
}

// load reads the packages of the module, by their folders.
func load(root string) (map[string]*pkg, error) {
	module, err := modulePath(root)
	if err != nil {
		return nil, err
	}
	all := map[string]*pkg{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path == root {
				return nil
			}
			_, nested := os.Stat(filepath.Join(path, "go.mod"))
			if nested == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(rel))
		if all[dir] == nil {
			all[dir] = &pkg{dir: dir, imports: map[string]bool{}}
		}
		return all[dir].add(path, module)
	})
	return all, err
}

// drawPackages prints the packages by layers, the highest first.
func drawPackages(out io.Writer, all map[string]*pkg) {
	layers := map[int][]string{}
	top := 0
	for dir := range all {
		n := layerOf(all, dir)
		layers[n] = append(layers[n], dir)
		top = max(top, n)
	}
	fmt.Fprintln(out, "Written by: go run ./internal/deps > docs/architecture.txt")
	fmt.Fprintln(out, "\nPackages of the module by layers, each with the packages that it imports. A package is one\nlayer above the highest of these. Tests are left out.")
	for n := top; n >= 0; n-- {
		fmt.Fprintf(out, "\nlayer %d\n", n)
		slices.Sort(layers[n])
		for _, dir := range layers[n] {
			fmt.Fprintf(out, "  %s\n", dir)
			wrapped(out, "      ", slices.Sorted(maps.Keys(all[dir].imports)))
		}
	}
}

// layerOf returns 0 for a package that imports no package of the module. Imports have no cycles.
func layerOf(all map[string]*pkg, dir string) int {
	p := all[dir]
	if p == nil {
		return 0
	}
	if !p.layered {
		for imported := range p.imports {
			p.layer = max(p.layer, 1+layerOf(all, imported))
		}
		p.layered = true
	}
	return p.layer
}

// wrapped prints words on lines of at most 100 columns.
func wrapped(out io.Writer, indent string, words []string) {
	line := indent
	for _, w := range words {
		if len(line)+len(w) > 99 && line != indent {
			fmt.Fprintln(out, strings.TrimRight(line, " "))
			line = indent
		}
		line += w + " "
	}
	if line != indent {
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
}
