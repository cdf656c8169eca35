// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	into := flag.String("record", "", "read `go test -json` from stdin, print what matters, append to `FILE`")
	report := flag.Bool("report", false, "sum up the recordings named as arguments")
	left := flag.String("remaining", "", "list the tests that the recording in `FILE` lacks or has in part, of the files on stdin")
	slow := flag.Int("slowest", 0, "with -report: also list so many tests that took longest")
	short := flag.Bool("short", false, "with -remaining: without what -short samples; with -report: what -short skips is no skip")
	requireAll := flag.Bool("require-all", false, "with -report: a skip is a failure")
	flag.Parse()
	var ok bool
	var err error
	switch {
	case *left != "" && *into == "" && !*report && flag.NArg() == 0:
		ok, err = true, remainingOf(*left, os.Stdin, os.Stdout, *short)
	case *into != "" && !*report && flag.NArg() == 0:
		ok, err = recordFile(os.Stdin, os.Stdout, *into)
	case *report && *into == "" && flag.NArg() > 0:
		ok, err = reportFiles(os.Stdout, flag.Args(), *slow, *short, *requireAll)
	default:
		flag.Usage()
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func recordFile(in io.Reader, out io.Writer, path string) (bool, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return false, err
	}
	w := bufio.NewWriter(f)
	ok, err := record(in, out, w)
	if e := w.Flush(); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return ok, err
}

// record copies the ends of tests, the output of failed and skipped tests, and the lines
// of sampled ones to log, and prints one line per package and all that a failed test
// printed. It reports whether nothing failed.
func record(in io.Reader, out, log io.Writer) (bool, error) {
	ok := true
	held := map[[2]string][]string{} // output of tests under way
	keep := json.NewEncoder(log)
	var logErr error
	err := scan(in, func(e event) {
		key := [2]string{e.Package, e.Test}
		switch e.Action {
		case "output":
			held[key] = append(held[key], e.Output)
			return
		case "build-output":
			fmt.Fprint(out, e.Output)
			return
		case "pass", "fail", "skip":
		default:
			return
		}
		if e.Action == "fail" {
			ok = false
			if e.Test == "" {
				printUnended(out, held, e.Package)
			}
			fmt.Fprint(out, strings.Join(held[key], ""))
		}
		if e.Test == "" && e.Action != "fail" {
			fmt.Fprintln(out, packageLine(e, held[key]))
		}
		whole := e.Action == "skip" || e.Action == "fail" && e.Test != ""
		for _, text := range held[key] {
			if whole || logs(text, sampled) || logs(text, leftOut) {
				logErr = firstError(logErr, keep.Encode(event{Action: "output", Package: e.Package, Test: e.Test, Output: text}))
			}
		}
		logErr = firstError(logErr, keep.Encode(e))
		delete(held, key)
	}, func(line string) { fmt.Fprintln(out, line) })
	return ok, firstError(err, logErr)
}

// printUnended prints the output of tests that have not ended although their package
// has: its process died, and the output of one of them has the reason.
func printUnended(out io.Writer, held map[[2]string][]string, pkg string) {
	for _, key := range slices.SortedFunc(maps.Keys(held), func(a, b [2]string) int { return strings.Compare(a[1], b[1]) }) {
		if key[0] == pkg && key[1] != "" {
			fmt.Fprint(out, strings.Join(held[key], ""))
			delete(held, key)
		}
	}
}

// packageLine returns what the go command would print about a package.
func packageLine(e event, output []string) string {
	for _, text := range slices.Backward(output) {
		if strings.HasPrefix(text, "ok ") || strings.HasPrefix(text, "?") {
			return strings.TrimRight(text, "\n")
		}
	}
	return fmt.Sprintf("%-4s %s %.2fs", e.Action, e.Package, e.Elapsed)
}

// reportFiles prints the slowest tests, failures, skips with reasons, and the closing line.
func reportFiles(out io.Writer, paths []string, slow int, short, requireAll bool) (bool, error) {
	var l ledger
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return false, err
		}
		run := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		err = scan(f, func(e event) { l.add(run, e) }, func(string) {})
		f.Close()
		if err != nil {
			return false, fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, o := range l.slowest(slow) {
		fmt.Fprintf(out, "%7.1f s %s: %s\n", o.elapsed, o.run, o.name())
	}
	s := l.sum()
	if short {
		for _, o := range s.omitSampled() {
			fmt.Fprintf(out, "left to make test-all  %s: %s\n", o.name(), o.reason)
		}
	}
	for _, o := range s.failed {
		fmt.Fprintf(out, "failed   %s: %s\n", o.run, o.name())
		for _, line := range o.findings {
			fmt.Fprintf(out, "         %s\n", line)
		}
	}
	for _, o := range s.skipped {
		fmt.Fprintf(out, "skipped  %s: %s\n", o.name(), o.reason)
	}
	ok := len(s.failed) == 0
	if requireAll && len(s.skipped) > 0 {
		fmt.Fprintln(out, "REQUIRE_ALL=1: a skip is a failure")
		ok = false
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", s.passed, len(s.failed), len(s.skipped))
	return ok, nil
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
