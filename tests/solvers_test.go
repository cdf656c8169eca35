// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// solverLine is a command of docs/solvers.md.
var solverLine = regexp.MustCompile(`(?m)^    ((?:gunzip|gvw|cmp|GVW_FAULT=\S+) .*)$`)

// The commands of docs/solvers.md, run in order, have the effects that it describes.
func TestSolversPage(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "quickstart"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "quickstart", "train.vw.gz"), string(mustRead(t, filepath.Join(root, "quickstart", "train.vw.gz"))))
	path := []string{"PATH=" + filepath.Dir(gvwBin) + string(os.PathListSeparator) + os.Getenv("PATH")}
	commands := solverLine.FindAllStringSubmatch(readFile(t, filepath.Join(root, "docs", "solvers.md")), -1)
	for _, m := range commands {
		r := startWith(t, dir, nil, path, "sh", "-e", "-c", m[1]).wait()
		if r.code != 0 {
			t.Fatalf("%s: exit code %d\n%s", m[1], r.code, r.stderr)
		}
		var want []string
		switch {
		case strings.HasPrefix(m[1], "GVW_FAULT="):
			want = []string{"rank 2 has ended"}
		case strings.Contains(m[1], "--solver newton"):
			want = []string{"solver=Newton", "Termination condition reached"}
		case strings.Contains(m[1], "--solver giant"):
			want = []string{"solver=GIANT", "Termination condition reached"}
		case strings.Contains(m[1], "--solver auto"):
			want = []string{"allreduce_seconds="}
		}
		for _, w := range want {
			if !strings.Contains(r.stderr, w) {
				t.Errorf("%s\n%s\nwant %q", m[1], r.stderr, w)
			}
		}
	}
	if len(commands) != 6 {
		t.Errorf("%d commands, want 6", len(commands))
	}
}
