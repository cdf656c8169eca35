// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// goBlock is a block of Go code in a page.
var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// TestAddingALearner builds gvw with the learner of docs/adding-a-learner.md and its row, without changing the tree, and
// trains with it.
func TestAddingALearner(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	blocks := goBlock.FindAllStringSubmatch(readFile(t, filepath.Join(root, "docs", "adding-a-learner.md")), -1)
	if len(blocks) != 2 {
		t.Fatalf("the page has %d blocks of code, want 2: the package and its row", len(blocks))
	}
	if n := strings.Count(blocks[0][1], "\n"); n > 60 {
		t.Errorf("the package has %d lines, want at most 60", n)
	}
	const table = "learn/internal/reductions/reductions.go"
	rows, old := blocks[1][1], readFile(t, filepath.Join(root, table))
	first, _, _ := strings.Cut(rows, "\n")
	if strings.Count(old, first+"\n") != 1 {
		t.Fatalf("%s has not one row %q", table, first)
	}
	const last = "\t\"github.com/gvw-project/gvw/learn/internal/reduction/quantiles\"\n"
	changed := strings.Replace(strings.Replace(old, first+"\n", rows, 1), last, last+strings.Replace(last, "quantiles", "repeat", 1), 1)

	dir := t.TempDir()
	replace := map[string]string{}
	for name, text := range map[string]string{table: changed, "learn/internal/reduction/repeat/repeat.go": blocks[0][1]} {
		copied := filepath.Join(dir, filepath.Base(name))
		writeFile(t, copied, text)
		replace[filepath.Join(root, name)] = copied
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "overlay"), string(overlay))
	bin := filepath.Join(dir, "gvw")
	if out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay"), "-o", bin, "../cmd/gvw").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	writeFile(t, filepath.Join(dir, "data"), strings.Repeat("1 |a x\n-1 |a y\n", 3))
	run := func(line string) {
		t.Helper()
		c := exec.Command(bin, strings.Fields(line)...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("gvw %s: %v\n%s", line, err, out)
		}
	}
	read := func(name string) string { return readFile(t, filepath.Join(dir, name)) }
	run("-d data --quiet -p plain")
	run("-d data --quiet -p once --repeat 1")
	run("-d data --quiet -p thrice --repeat 3 -f model")
	if read("plain") != read("once") {
		t.Errorf("--repeat 1 predicts\n%swant what the linear learner predicts:\n%s", read("once"), read("plain"))
	}
	if read("thrice") == read("once") {
		t.Error("--repeat 3 predicts what --repeat 1 does")
	}
	run("-d data -t -i model --quiet")
	other := exec.Command(bin, strings.Fields("-d data -t -i model --quiet --repeat 2")...)
	other.Dir = dir
	if out, err := other.CombinedOutput(); err == nil || !strings.Contains(string(out), "'repeat'") {
		t.Errorf("--repeat 2 with a model of --repeat 3: %v, %s, want an error: models keep the option", err, out)
	}
}
