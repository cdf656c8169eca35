// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// quickstartPage is a page of docs whose commands use the data of the quickstart.
type quickstartPage struct {
	text string
	dir  string // the folder in which the commands run
	path []string
}

// openPage makes a folder for the commands of a page.
func openPage(t *testing.T, name string) *quickstartPage {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	p := &quickstartPage{
		text: readFile(t, filepath.Join(root, "docs", name)),
		dir:  t.TempDir(),
		path: []string{"PATH=" + filepath.Dir(gvwBin) + string(os.PathListSeparator) + os.Getenv("PATH")},
	}
	if err := os.Mkdir(filepath.Join(p.dir, "quickstart"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"train.vw.gz", "test.vw.gz"} {
		writeFile(t, filepath.Join(p.dir, "quickstart", file), string(mustRead(t, filepath.Join(root, "quickstart", file))))
	}
	return p
}

// pageLine is a command of a page.
var pageLine = regexp.MustCompile(`(?m)^    ((?:gunzip|gvw|cmp|spanning_tree|GVW_FAULT=\S+) .*)$`)

// commands returns the commands of the page, in order.
func (p *quickstartPage) commands() (lines []string) {
	for _, m := range pageLine.FindAllStringSubmatch(p.text, -1) {
		lines = append(lines, m[1])
	}
	return lines
}

// shell runs a command, which must succeed.
func (p *quickstartPage) shell(t *testing.T, line string) result {
	t.Helper()
	r := startWith(t, p.dir, nil, p.path, "sh", "-e", "-c", line).wait()
	if r.code != 0 {
		t.Fatalf("%s: exit code %d\n%s", line, r.code, r.stderr)
	}
	return r
}
