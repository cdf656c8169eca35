// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The made data are the same each time, have the features of their shapes, and labels of both kinds.
func TestMadeData(t *testing.T) {
	var texts [2]map[string]string
	for i := range texts {
		dir := t.TempDir()
		if err := makeData(dir, 50); err != nil {
			t.Fatal(err)
		}
		texts[i] = map[string]string{}
		for _, name := range []string{"sparse.vw", "dense.vw"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			texts[i][name] = string(b)
		}
	}
	if d := cmp.Diff(texts[0], texts[1]); d != "" {
		t.Errorf("the data differ: %s", d)
	}
	for name, words := range map[string]int{"sparse.vw": 1 + 2*(1+sparseHalf), "dense.vw": 1 + 1 + denseNames} {
		labels := map[string]int{}
		for line := range strings.Lines(texts[0][name]) {
			f := strings.Fields(line)
			labels[f[0]]++
			if len(f) != words {
				t.Fatalf("%s: got %d words, want %d: %s", name, len(f), words, line)
			}
		}
		if labels["1"]+labels["-1"] != 50 || labels["1"] == 0 || labels["-1"] == 0 {
			t.Errorf("%s: got labels %v", name, labels)
		}
	}
}

// Each tenth line is for the test, and weights are counted once.
func TestSplitAndTouched(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "all.vw")
	if err := os.WriteFile(path, []byte(strings.Repeat("1 | a b\n-1 | b c\n", 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &session{dir: dir}
	train, test, err := s.split(path)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]int{train: 18, test: 2} {
		b, err := os.ReadFile(file)
		if got := strings.Count(string(b), "\n"); err != nil || got != want {
			t.Errorf("%s: got %d lines, want %d: %v", file, got, want, err)
		}
	}
	if n, err := touched(path, 18); err != nil || n != 4 { // a, b, c and the constant
		t.Errorf("got %d weights, want 4: %v", n, err)
	}
}
