// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// labelLines are lines that the program adds to vw's, or that differ by intent.
var labelLines = regexp.MustCompile(`^(\[|level=|gvw: |using no cache)|label .* found`)

// TestLabelsOfClassesMatchVW compares what the learners of labels other than simple ones print and write with the real
// vw: -p, -r, the banner, the table and the summary.
func TestLabelsOfClassesMatchVW(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	for _, c := range oneOfEach(t, composedCases(t), func(c composedCase) string { return learnerOf(c) + " " + c.data }) {
		if c.data == "reg500" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := c.folder(t)
			options := append(strings.Fields("-d data -P 7 -p p -r r -f m"), strings.Fields(c.options)...)
			for _, test := range []bool{false, true} {
				if test {
					options = append(strings.Fields("-d data -t -i m -P 9 -p p -r r"), strings.Fields(c.unkept)...)
				}
				theirs := realRun(t, dir, vw, options...).stderr
				p, r := readFile(t, filepath.Join(dir, "p")), readFile(t, filepath.Join(dir, "r"))
				ours := gvw(t, dir, append(options, "-k")...).stderr
				sameWords(t, "-p", readFile(t, filepath.Join(dir, "p")), p)
				sameWords(t, "-r", readFile(t, filepath.Join(dir, "r")), r)
				sameWords(t, "stderr", shownLines(ours), shownLines(theirs))
			}
		})
	}
}

// shownLines leaves out lines by labelLines, and empty ones.
func shownLines(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !labelLines.MatchString(line) && strings.TrimSpace(line) != "" {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// sameWords compares texts word by word; numbers may differ by 1e-4 before they are rounded.
func sameWords(t *testing.T, what, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) {
		t.Errorf("%s: %d lines, want %d", what, len(g), len(w))
		return
	}
	for i := range w {
		a, b := strings.FieldsFunc(g[i], apart), strings.FieldsFunc(w[i], apart)
		for k := range b {
			if len(a) != len(b) || a[k] != b[k] && !nearWords(a[k], b[k]) {
				t.Errorf("%s, line %d: got %q, want %q", what, i+1, g[i], w[i])
				return
			}
		}
	}
}

func apart(r rune) bool { return r == ' ' || r == ':' || r == ',' }

// nearWords reports whether two words are numbers that differ by 1e-4 at most.
func nearWords(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && near(x, y, 1.5*tolComposed) // vw may round the last of four decimals elsewhere
}
