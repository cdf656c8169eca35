// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/sampled"
)

// TestStrictParseAsVW: with --strict_parse gvw refuses the same malformed lines as the real vw,
// with a last line that names file and line. Without the option both read each line in the same
// way.
func TestStrictParseAsVW(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	for _, c := range sampled.Short(t, []struct {
		options, line string
		want          string // gvw's message about the line; "": none
	}{
		{"", "xyz |a b", ""},
		{"", "nan |a b", ""},
		{"", "1x |a b", ""},
		{"", "1 abc |a b", ""},
		{"", "1 1 zz |a b", ""},
		{"", "1 2 3 4 |a b", ""},
		{"", "1 a b", ""},
		{"", "1 |a b:xx", ""},
		{"", "1 |a b:", ""},
		{"", "1 |a b:1e400", ""},
		{"", "1 |a b|", ""},
		{"", "1 -1 |a b", "invalid importance weight (-1)"},
		{"", "1 |a b:1x c", "malformed example!"},
		{"", "1 |a b:1:2 c", "malformed example!"},
		{"", "1 |a b:nan", `invalid feature value "nan"`},
		{"", "1 |a:x b", "malformed example!"},
		{"", "1 |a:nan b", `invalid namespace value "nan"`},
		{"", "1 |a |b:y c", "malformed example!"},
		{"", "1 |:2 b", "malformed example!"},
		{"--json", `{"_label":"xyz","a":1}`, ""},
		{"--json", `{"_label":"1 -1","a":1}`, "invalid importance weight (-1)"},
		{"--oaa 3", "5 |a b", ""},
	}, 0, 4) {
		t.Run(c.options+" "+c.line, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			good := "1 |a b"
			if c.options == "--json" {
				good = `{"_label":1,"a":{"b":1}}`
			}
			writeFile(t, filepath.Join(dir, "x"), strings.Join([]string{good, c.line, good, ""}, "\n"))
			with := func(more string) []string { return strings.Fields("-d x " + c.options + " " + more) }

			gvw(t, dir, with("-p ours")...)
			realRun(t, dir, vw, with("-p theirs")...)
			comparePredictionsTo(t, readFile(t, filepath.Join(dir, "ours")), readFile(t, filepath.Join(dir, "theirs")), tolWeight)

			// vw exits with 0 in both cases, and has not read the third example if it refuses
			// the second.
			theirs := realRun(t, dir, vw, with("--strict_parse")...)
			if refused := !strings.Contains(theirs.stderr, "number of examples = 3\n"); refused != (c.want != "") {
				t.Fatalf("vw refuses it: %v\n%s%s", refused, theirs.stdout, theirs.stderr)
			}
			ours := run(t, dir, gvwBin, with("--strict_parse")...)
			if c.want == "" {
				ours.ends(t, c.line, 0)
			} else {
				ours.ends(t, c.line, 2, "x, line 2", c.want)
			}
		})
	}
}
