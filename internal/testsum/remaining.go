// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// sampled is the prefix of the log line of a test that has done only a part of its work
// because of -short.
const sampled = "sampled: "

// isSampled reports whether a line of output is such a log line.
func isSampled(text string) bool {
	at := place.FindString(text)
	return at != "" && strings.HasPrefix(text[len(at):], sampled)
}

// declaration matches the tests and fuzz targets of a file.
var declaration = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w*)\(\w+ \*testing\.[TF]\)`)

// remaining lists the tests that a recorded run has not run in full: it skipped them
// or one of their subtests, it sampled them, or its build left them out. The lines of
// files are "PACKAGE FILE", one per file of tests. The first line printed is a pattern
// for -run, the second the packages; without any such test nothing is printed.
func remaining(recording, files io.Reader, out io.Writer) error {
	full := map[[2]string]bool{} // package and test
	part := map[[2]string]bool{}
	err := scan(recording, func(e event) {
		top, _, _ := strings.Cut(e.Test, "/")
		key := [2]string{e.Package, top}
		switch {
		case e.Action == "skip", e.Action == "output" && isSampled(e.Output):
			part[key] = true
		case e.Action == "pass", e.Action == "fail":
			full[key] = true
		}
	}, func(string) {})
	if err != nil {
		return err
	}
	var names, packages []string
	lines := bufio.NewScanner(files)
	for lines.Scan() {
		pkg, path, _ := strings.Cut(lines.Text(), " ")
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range declaration.FindAllSubmatch(text, -1) {
			if key := [2]string{pkg, string(m[1])}; part[key] || !full[key] {
				names, packages = append(names, key[1]), append(packages, pkg)
			}
		}
	}
	if err := lines.Err(); err != nil || len(names) == 0 {
		return err
	}
	slices.Sort(names)
	slices.Sort(packages)
	_, err = fmt.Fprintf(out, "^(%s)$\n%s\n", strings.Join(slices.Compact(names), "|"), strings.Join(slices.Compact(packages), " "))
	return err
}

// remainingOf is remaining for a recording in a file.
func remainingOf(path string, files io.Reader, out io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return remaining(f, files, out)
}
