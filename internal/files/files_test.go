// SPDX-License-Identifier: Apache-2.0

package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
)

func TestInputs(t *testing.T) {
	dir := t.TempDir()
	file, cache := filepath.Join(dir, "x.vw"), filepath.Join(dir, "cache")
	for _, name := range []string{file, cache} {
		if err := os.WriteFile(name, []byte("1 | a\n-1 | b\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := &cli.Process{}
	var err error
	if p.Stdin, err = os.Open(file); err != nil {
		t.Fatal(err)
	}
	defer p.Stdin.Close()
	fsys, files := hdfsio.Local{}, New(p)

	in, err := files.Inputs(t.Context(), fsys, []string{file, file}, "", hdfsio.Shard{})
	if err != nil || len(in) != 2 || in[0].Name != file || in[0].Identity == "" {
		t.Errorf("two files: %+v, %v", in, err)
	}
	if in, err = files.Inputs(t.Context(), fsys, nil, cache, hdfsio.Shard{}); err != nil || in != nil {
		t.Errorf("only a cache: %+v, %v", in, err)
	}
	in, err = files.Inputs(t.Context(), fsys, nil, filepath.Join(dir, "none"), hdfsio.Shard{})
	if err != nil || len(in) != 1 || in[0].Name != "stdin" || in[0].Identity != "" {
		t.Fatalf("stdin: %+v, %v", in, err)
	}
	r, err := in[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || string(b) != "1 | a\n-1 | b\n" {
		t.Errorf("stdin: %q, %v", b, err)
	}
	if _, err := in[0].Open(t.Context()); !isUsage(err) {
		t.Errorf("stdin a second time: %v", err)
	}
	for _, c := range []struct {
		data  []string
		shard hdfsio.Shard
	}{{[]string{"-", file}, hdfsio.Shard{}}, {[]string{"-"}, hdfsio.Shard{Kind: hdfsio.Bytes, Total: 2}}} {
		if _, err := files.Inputs(t.Context(), fsys, c.data, "", c.shard); !isUsage(err) {
			t.Errorf("%v by %v: %v", c.data, c.shard, err)
		}
	}
}

func TestTerminal(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if Terminal(f) {
		t.Error("the null device is reported as a terminal")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if Terminal(f) {
		t.Error("a closed file is reported as a terminal")
	}
}

// The names of stdout create no file, whatever stdout is.
func TestCreatorRecognisesStdout(t *testing.T) {
	t.Chdir(t.TempDir())
	var b strings.Builder
	create := New(&cli.Process{Stdout: &b}).Creator(t.Context(), hdfsio.Local{}, 0)
	for _, name := range StdoutNames {
		f, err := create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, name); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Commit(), f.Abort()); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.String(); got != strings.Join(StdoutNames, "") {
		t.Errorf("stdout: %q", got)
	}
}

// An output file checks its condition as late as its file system allows it.
func TestOutputsAreConditional(t *testing.T) {
	dir := t.TempDir()
	create := New(&cli.Process{}).Creator(t.Context(), &hdfsio.Watched{FS: &hdfsio.URLs{}}, 0)
	f, err := create("file://" + filepath.ToSlash(dir) + "/model")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "weights"); err != nil {
		t.Fatal(err)
	}
	err = f.(hdfsio.Conditional).CommitIf(func() error {
		copies, err := filepath.Glob(filepath.Join(dir, ".model*"))
		if err != nil || len(copies) != 1 {
			t.Fatalf("the folder has the temporary files %v, %v", copies, err)
		}
		if b, err := os.ReadFile(copies[0]); err != nil || string(b) != "weights" {
			t.Errorf("the temporary file has %q, %v", b, err)
		}
		return nil
	})
	if b, rerr := os.ReadFile(filepath.Join(dir, "model")); err != nil || rerr != nil || string(b) != "weights" {
		t.Errorf("got %v, and the file has %q, %v", err, b, rerr)
	}
}

func isUsage(err error) bool {
	_, ok := errors.AsType[*cli.UsageError](err)
	return ok
}
