// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// averagingLine is a command of docs/averaging.md.
var averagingLine = regexp.MustCompile(`(?m)^    ((?:gunzip|gvw|cmp|GVW_FAULT=\S+) .*)$`)

// The commands of docs/averaging.md, run in order, have the effects that it describes.
func TestAveragingPage(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "quickstart"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"train.vw.gz", "test.vw.gz"} {
		writeFile(t, filepath.Join(dir, "quickstart", name), string(mustRead(t, filepath.Join(root, "quickstart", name))))
	}
	path := []string{"PATH=" + filepath.Dir(gvwBin) + string(os.PathListSeparator) + os.Getenv("PATH")}
	page := readFile(t, filepath.Join(root, "docs", "averaging.md"))
	commands := averagingLine.FindAllStringSubmatch(page, -1)
	for _, m := range commands {
		r := startWith(t, dir, nil, path, "sh", "-e", "-c", m[1]).wait()
		if r.code != 0 {
			t.Fatalf("%s: exit code %d\n%s", m[1], r.code, r.stderr)
		}
		switch {
		case strings.Contains(m[1], " -t "):
			const want = "0.965517"
			if !strings.Contains(page, "The accuracy on the test file is "+want+".") || !strings.Contains(r.stderr, "accuracy = "+want) {
				t.Errorf("the page and the command do not agree on accuracy %s:\n%s", want, r.stderr)
			}
		case strings.HasPrefix(m[1], "GVW_FAULT="):
			if !strings.Contains(r.stderr, "rank 2 has ended") {
				t.Errorf("no rank was lost:\n%s", r.stderr)
			}
		}
	}
	if len(commands) != 6 {
		t.Errorf("%d commands, want 6", len(commands))
	}
}
