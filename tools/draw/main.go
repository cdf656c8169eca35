// SPDX-License-Identifier: Apache-2.0

// Command draw draws the CSV files of a directory as SVG files beside them: see bench/figures for their form.
//
//	go -C tools run ./draw ../docs/figures
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: draw DIR")
		os.Exit(2)
	}
	if err := drawAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "draw:", err)
		os.Exit(1)
	}
}

// drawAll draws each CSV file of a directory.
func drawAll(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("%s: got no CSV files, want at least one", dir)
	}
	for _, path := range paths {
		f, err := read(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		svg := strings.TrimSuffix(path, ".csv") + ".svg"
		if err := f.draw(svg); err != nil {
			return fmt.Errorf("%s: %w", svg, err)
		}
	}
	return nil
}
