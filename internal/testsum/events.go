// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// event has the fields of a line of `go test -json` that are used here.
type event struct {
	Action     string
	Package    string
	ImportPath string // package that failed to build
	Test       string
	Output     string
	Elapsed    float64
}

// maxLine is the limit of a line of test output in bytes. A longer line is an error, so that a
// test cannot exhaust the memory.
const maxLine = 16 << 20

// scan calls each for every event of r, and pass for every other line, which comes
// from the go command itself.
func scan(r io.Reader, each func(event), pass func(line string)) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 64<<10), maxLine)
	for s.Scan() {
		var e event
		if line := s.Bytes(); len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &e) != nil {
			pass(s.Text())
			continue
		}
		each(e)
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("a line of test output is longer than %d bytes", maxLine)
	} else if err != nil {
		return err
	}
	return nil
}

// reason returns the text of a test's skip: its last log line
// without the position in the source.
func reason(output []string) string {
	for i := len(output) - 1; i >= 0; i-- {
		line := strings.TrimSpace(output[i])
		if line == "" || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
			continue
		}
		if place, text, ok := strings.Cut(line, ": "); ok && strings.Contains(place, ".go:") {
			line = text
		}
		return line
	}
	return "no reason given"
}

// place matches the prefix of a log line of the testing package.
var place = regexp.MustCompile(`^\s*\w+\.go:\d+: `)

const (
	maxFindings = 6   // lines of a failed test in the report
	maxFinding  = 240 // bytes of each
)

// findings returns the first lines of a failed test that have a position in the source. The
// report repeats them at its end.
func findings(output []string) (lines []string) {
	for _, text := range output {
		if len(lines) == maxFindings {
			break
		}
		if place.MatchString(text) {
			text = strings.TrimSpace(text)
			lines = append(lines, strings.ToValidUTF8(text[:min(len(text), maxFinding)], ""))
		}
	}
	return lines
}
