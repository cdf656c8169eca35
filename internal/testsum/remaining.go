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

// Prefixes of log lines of tests that have done only a part of their work, or none.
const (
	sampled = "sampled: "  // because of -short
	leftOut = "left out: " // because of the build, such as one with the race detector
)

// logs reports whether a line of output is a log line with the prefix.
func logs(text, prefix string) bool {
	at := place.FindString(text)
	return at != "" && strings.HasPrefix(text[len(at):], prefix)
}

// declaration matches the tests and fuzz targets of a file.
var declaration = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w*)\(\w+ \*testing\.[TF]\)`)

// remaining lists the tests that a recorded run has not run in full: it skipped them
// or one of their subtests, it sampled them, or its build left them or a part of them out.
// With short it omits what another run with -short would sample or skip again. The lines of
// files are "PACKAGE FILE", one per file of tests. The first line printed is a pattern
// for -run, the second the packages; without any such test nothing is printed.
func remaining(recording, files io.Reader, out io.Writer, short bool) error {
	full := map[[2]string]bool{} // package and test
	part := map[[2]string]bool{}
	again := map[[2]string]bool{} // tests, with subtests, that -short skips
	err := scan(recording, func(e event) {
		top, _, _ := strings.Cut(e.Test, "/")
		key := [2]string{e.Package, top}
		switch {
		case e.Action == "output" && logs(e.Output, sampled):
			again[[2]string{e.Package, e.Test}] = true
			part[key] = part[key] || !short
		case e.Action == "output" && logs(e.Output, leftOut):
			part[key] = true
		case e.Action == "skip":
			if !short || !again[[2]string{e.Package, e.Test}] {
				part[key] = true
			} else {
				full[key] = true
			}
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
func remainingOf(path string, files io.Reader, out io.Writer, short bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return remaining(f, files, out, short)
}
