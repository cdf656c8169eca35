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

// event is one line of `go test -json`, as far as it matters here.
type event struct {
	Action     string
	Package    string
	ImportPath string // of what did not build
	Test       string
	Output     string
	Elapsed    float64
}

// maxLine bounds a line of test output: a test that prints more than this in
// one line is cut off with an error, not with our memory.
const maxLine = 16 << 20

// scan calls each for every event of r and pass for every line that is none:
// what the go command itself says.
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

// reason finds what a test said when it skipped: the last thing it logged,
// without the place in the source.
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

// place is how the testing package begins what a test logs.
var place = regexp.MustCompile(`^\s*\w+\.go:\d+: `)

const (
	maxFindings = 6   // lines of a failed test that the report repeats
	maxFinding  = 240 // bytes of each
)

// findings returns the first lines with a place in the source that a failed test has printed:
// what the report repeats, since its end is what one reads first.
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
