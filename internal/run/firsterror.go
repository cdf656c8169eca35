// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bufio"
	"io"
	"os"
	"strings"

	"github.com/gvw-project/gvw/internal/plain"
)

const (
	// searched is how much of a log is searched for its first error.
	searched = 16 << 20
	// longError is the length of an error that the last line of a run quotes.
	longError = 200
)

// firstError returns the first error in the log of a process from an offset on; "": there is none. Later errors often
// follow from it.
func firstError(name string, from int64) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(io.NewSectionReader(f, from, searched))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if text := errorIn(lines.Text()); text != "" {
			if len(text) > longError {
				text = strings.ToValidUTF8(text[:longError], "") + "…"
			}
			return plain.Text(text)
		}
	}
	return ""
}

// errorIn returns the error in a line of a log: the last line of a command, a record of the level ERROR, or the first
// line of a crash.
func errorIn(line string) string {
	for _, mark := range []string{"gvw: ", "fatal error: ", "panic: "} {
		if text, ok := strings.CutPrefix(line, mark); ok && mark == "gvw: " {
			return text
		} else if ok {
			return line
		}
	}
	if strings.Contains(line, "cause of the failure") {
		return "" // of another rank, and found by the server
	}
	if strings.Contains(line, "level=ERROR") || strings.Contains(line, `"level":"ERROR"`) {
		return line
	}
	return ""
}
