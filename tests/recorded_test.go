// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"encoding/base64"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/gvw-project/gvw/internal/sampled"
)

// record rewrites the recordings from a real vw:
//
//	GVW_VW_PYTHON=../.venv/bin/python go test ./tests -run TestRecorded -record
var record = flag.Bool("record", false, "record tests/testdata/recorded with the real vw")

// A recording is a txtar archive of commands, their inputs and vw's outputs. In its
// comment, a line that begins with "$ " is a command that both programs run, and one
// that begins with "vw$ " is run by vw only, to make a file that gvw reads. A file
// named want/NAME is what vw leaves in NAME; want/table has the progress tables and
// summaries of the "$ " commands, want/stdout what they print. A file named NAME.b64 is the binary file NAME of a
// "vw$ " command. The others are inputs.
type recording struct {
	path    string
	archive *txtar.Archive
}

// commands returns the arguments of the commands that a program runs.
func (r *recording) commands(real bool) (all []command) {
	for line := range strings.Lines(string(r.archive.Comment)) {
		if args, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, command{args: strings.Fields(args), shown: true})
		} else if args, ok := strings.CutPrefix(line, "vw$ "); ok && real {
			all = append(all, command{args: strings.Fields(args)})
		}
	}
	return all
}

type command struct {
	args  []string
	shown bool // its table and summary are compared
}

// play runs the commands in a new directory and returns it.
func (r *recording) play(t *testing.T, real bool, runs func(dir string, args ...string) result) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range r.archive.Files {
		if strings.HasPrefix(f.Name, "want/") {
			continue
		}
		name, binary := strings.CutSuffix(f.Name, ".b64")
		switch {
		case binary && real: // to be made
		case binary:
			b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(f.Data)), ""))
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			writeFile(t, filepath.Join(dir, name), string(b))
		default:
			writeFile(t, filepath.Join(dir, name), string(f.Data))
		}
	}
	var table, stdout strings.Builder
	for _, c := range r.commands(real) {
		res := runs(dir, c.args...)
		if c.shown {
			stdout.WriteString(res.stdout)
			for _, line := range tableLines(res.stderr) {
				table.WriteString(line + "\n")
			}
		}
	}
	writeFile(t, filepath.Join(dir, "table"), table.String())
	writeFile(t, filepath.Join(dir, "stdout"), stdout.String())
	return dir
}

// rewrite stores vw's output files of dir in the archive.
func (r *recording) rewrite(t *testing.T, dir string) {
	t.Helper()
	for i := range r.archive.Files {
		f := &r.archive.Files[i]
		if name, ok := strings.CutPrefix(f.Name, "want/"); ok {
			f.Data = []byte(readFile(t, filepath.Join(dir, name)))
		} else if name, ok := strings.CutSuffix(f.Name, ".b64"); ok {
			text := base64.StdEncoding.EncodeToString([]byte(readFile(t, filepath.Join(dir, name))))
			f.Data = nil
			for line := range slices.Chunk([]byte(text), 76) {
				f.Data = append(append(f.Data, line...), '\n')
			}
		}
	}
	if err := os.WriteFile(r.path, txtar.Format(r.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRecorded runs the recorded commands and compares all that vw left behind.
func TestRecorded(t *testing.T) {
	t.Parallel()
	forRecordings(t, 1, func(t *testing.T, r *recording) {
		if *record {
			vw := realVW(t)
			r.rewrite(t, r.play(t, true, func(dir string, args ...string) result { return realRun(t, dir, vw, args...) }))
		}
		r.compare(t, r.play(t, false, func(dir string, args ...string) result {
			if slices.Contains(args, "--bfgs") {
				args = append(args, "--bfgs_semantics", "vw9")
			}
			return gvw(t, dir, args...)
		}))
	})
}

// TestRecordingsAreVWs runs the recorded commands with the real vw, which must reproduce the
// recordings.
func TestRecordingsAreVWs(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	forRecordings(t, 6, func(t *testing.T, r *recording) {
		r.compare(t, r.play(t, true, func(dir string, args ...string) result { return realRun(t, dir, vw, args...) }))
	})
}

// forRecordings calls test for all recordings, and in the short form for every n-th one.
func forRecordings(t *testing.T, n int, test func(*testing.T, *recording)) {
	paths, err := filepath.Glob(filepath.Join("testdata", "recorded", "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	if n > 1 {
		paths = sampled.Short(t, paths, 0, n)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			test(t, &recording{path: path, archive: archive})
		})
	}
}

// compare compares the files in dir with those that are recorded.
func (r *recording) compare(t *testing.T, dir string) {
	t.Helper()
	for _, f := range r.archive.Files {
		name, ok := strings.CutPrefix(f.Name, "want/")
		if !ok {
			continue
		}
		sameText(t, name, readFile(t, filepath.Join(dir, name)), string(f.Data))
	}
}

// sameText compares numbers within the bar and everything else exactly. It leaves out the lines
// of a readable model that differ between two programs with the same results.
func sameText(t *testing.T, name, got, want string) {
	t.Helper()
	g, w := comparable(got), comparable(want)
	if len(g) != len(w) {
		t.Errorf("%s: got %d lines, want %d (-want +got):\n%s", name, len(g), len(w), cmp.Diff(w, g))
		return
	}
	for i := range w {
		if !sameLine(g[i], w[i]) {
			t.Errorf("%s, line %d:\ngot  %q\nwant %q", name, i+1, g[i], w[i])
			return
		}
	}
}

func comparable(text string) []string {
	return slices.DeleteFunc(strings.Split(strings.TrimSuffix(text, "\n"), "\n"), func(line string) bool {
		return strings.HasPrefix(line, "Version ") || strings.HasPrefix(line, "Checksum: ")
	})
}

func sameLine(got, want string) bool {
	words := func(line string) []string {
		return strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" \t:(%)@", c) })
	}
	g, w := words(got), words(want)
	return slices.EqualFunc(g, w, func(a, b string) bool {
		x, err1 := strconv.ParseFloat(a, 64)
		y, err2 := strconv.ParseFloat(b, 64)
		return a == b || err1 == nil && err2 == nil && near(x, y, tolWeight)
	})
}
