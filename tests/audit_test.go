// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/sampled"
)

// TestNamesAreThoseOfVW compares --audit and --invert_hash with vw's: the same
// names, indices and values, weights within the bar.
func TestNamesAreThoseOfVW(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	text := namespaceText()
	for _, options := range sampled.Short(t, []string{
		"",
		"-q ab --cubic abc --ngram 2 --skips 1",
		"-q :: --ignore_linear bc --affix +2a,-3,+1b --spelling b --spelling _",
		"--interactions aabb --ngram a3 --redefine b:=c --hash all",
		"--sgd -l 0.05 -q ab --feature_limit 3",
		"--l1 1e-4 --l2 1e-4 --loss_function logistic --link logistic",
		"-b 8 -q :: --normalized -l 0.5",
		"--oaa 3 -q ab --ignore_linear b --ngram a2",
	}, 0, 2) {
		t.Run(options, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			data := text
			if strings.HasPrefix(options, "--oaa") {
				data = classText(text)
			}
			writeFile(t, filepath.Join(dir, "x.vw"), data)
			args := append(strings.Fields("-d x.vw -a --quiet --predict_only_model"), strings.Fields(options)...)
			got := gvw(t, dir, append(args, "--invert_hash", "ours")...)
			want := realRun(t, dir, vw, append(args, "--invert_hash", "theirs")...)
			compareAudit(t, got.stdout, strings.TrimPrefix(want.stdout, info(want.stdout)))

			read := func(name string) string {
				_, weights, _ := strings.Cut(readFile(t, filepath.Join(dir, name)), "\n:0\n")
				return "\t" + strings.ReplaceAll(strings.TrimSpace(weights), "\n", "\t")
			}
			compareAudit(t, read("ours"), read("theirs"))
		})
	}
}

// classText has the classes 1, 2, 3, 1, … as labels.
func classText(text string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		_, rest, _ := strings.Cut(line, " ")
		b.WriteString(strconv.Itoa(1+n%3) + " " + rest)
		n++
	}
	return b.String()
}

// info returns the lines that vw writes to stdout before the first example.
func info(stdout string) string {
	n := 0
	for line := range strings.Lines(stdout) {
		if !strings.HasPrefix(line, "[") && !strings.HasPrefix(line, "You can use") {
			break
		}
		n += len(line)
	}
	return stdout[:n]
}

// compareAudit compares lines of predictions and of features. The order of
// features with nearly equal parts in a prediction is left open.
func compareAudit(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) {
		t.Fatalf("got %d lines, want %d\n%.300s\n%.300s", len(g), len(w), got, want)
	}
	for i := range w {
		x, y := strings.Split(g[i], "\t"), strings.Split(w[i], "\t")
		slices.Sort(x)
		slices.Sort(y)
		if len(x) != len(y) {
			t.Fatalf("line %d: got %d features, want %d\n%s\n%s", i+1, len(x), len(y), g[i], w[i])
		}
		for k := range y {
			if !sameFeature(x[k], y[k]) {
				t.Fatalf("line %d: got %q, want %q", i+1, x[k], y[k])
			}
		}
	}
}

// sameFeature compares name:…:weight@sum, or a prediction and a tag.
func sameFeature(got, want string) bool {
	cut := func(s string) (name string, numbers []string) {
		i := max(strings.LastIndexByte(s, ':'), -1)
		return s[:i+1], strings.FieldsFunc(s[i+1:], func(r rune) bool { return r == '@' || r == ' ' })
	}
	gotName, x := cut(got)
	wantName, y := cut(want)
	if gotName != wantName || len(x) != len(y) {
		return false
	}
	for i := range y {
		a, err1 := strconv.ParseFloat(x[i], 64)
		b, err2 := strconv.ParseFloat(y[i], 64)
		if err1 != nil || err2 != nil {
			return x[i] == y[i]
		}
		if !near(a, b, tolWeight) {
			return false
		}
	}
	return true
}
