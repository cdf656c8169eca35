// SPDX-License-Identifier: Apache-2.0

package fstest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/hdfsio"
)

// Config describes the file system to test.
type Config struct {
	// FS is the file system.
	FS hdfsio.FS
	// Dir is an empty directory of it.
	Dir string
	// Races means that several concurrent CommitNew of one name may all succeed.
	Races bool
	// Slow means that each call takes seconds: only the first case runs, on one file.
	Slow bool
}

// Run runs the suite.
func Run(t *testing.T, c Config) {
	t.Helper()
	tests := []struct {
		name string
		run  func(*testing.T, Config)
	}{
		{"what is written is read", roundTrip},
		{"a new file replaces nothing", commitNew},
		{"errors say what is missing", faults},
		{"a file appears when it is whole", commit},
		{"a file that is given up leaves nothing", abort},
		{"a condition is checked before the rename", commitIf},
		{"one of many has a new name", race},
		{"patterns find files", list},
		{"names are names", names},
		{"folders are made and removed", folders},
		{"ranks share every line", shares},
		{"blocks cover a file", blocks},
	}
	if c.Slow {
		tests = tests[:1]
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := c
			c.Dir += "/" + strings.ReplaceAll(test.name, " ", "-")
			if err := c.FS.Mkdir(t.Context(), c.Dir); err != nil {
				t.Fatal(err)
			}
			test.run(t, c)
		})
	}
}

// write makes a file.
func write(t *testing.T, fsys hdfsio.FS, name string, data []byte) {
	t.Helper()
	f, err := fsys.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
}

// read reads a file from an offset on.
func read(t *testing.T, fsys hdfsio.FS, name string, offset int64) []byte {
	t.Helper()
	r, err := fsys.Open(t.Context(), name, offset)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}

// must compares the content of a file.
func must(t *testing.T, fsys hdfsio.FS, name string, offset int64, want []byte) {
	t.Helper()
	if got := read(t, fsys, name, offset); !bytes.Equal(got, want) {
		t.Errorf("%s from byte %d: %d bytes %.40q, want %d bytes %.40q", name, offset, len(got), got, len(want), want)
	}
}

// left fails the test if the directory has temporary files.
func left(t *testing.T, fsys hdfsio.FS, dir string) {
	t.Helper()
	infos, err := fsys.List(t.Context(), dir+"/.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		t.Errorf("left behind: %s", info.Name)
	}
}

// noise returns n bytes that neither compress nor contain lines.
func noise(n int) []byte {
	b := make([]byte, n)
	x := uint32(2463534242)
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return b
}

func roundTrip(t *testing.T, c Config) {
	sizes := []int{0, 1, 4095, 1<<16 + 1, 3<<20 + 7}
	if c.Slow {
		sizes = sizes[4:]
	}
	for _, n := range sizes {
		name := fmt.Sprintf("%s/%d %% +;&#ü{c}", c.Dir, n)
		data := noise(n)
		write(t, c.FS, name, data)
		if c.Slow {
			must(t, c.FS, name, int64(n/2), data[n/2:])
			continue
		}
		info, err := c.FS.Stat(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Name != name || info.Size != int64(n) || !info.Mode.IsRegular() || info.Modified.IsZero() {
			t.Errorf("%s is described as %+v", name, info)
		}
		offsets := []int{0, n / 2, n}
		if n > 1 {
			offsets = append(offsets, 1, n-1)
		}
		for _, at := range offsets {
			must(t, c.FS, name, int64(at), data[at:])
		}
		// A reader may be closed early.
		r, err := c.FS.Open(t.Context(), name, 0)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, min(n, 10))
		if _, err := io.ReadFull(r, b); err != nil || !bytes.Equal(b, data[:len(b)]) {
			t.Errorf("%s begins with %q, %v", name, b, err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("%s: closed early: %v", name, err)
		}
	}
}

func commit(t *testing.T, c Config) {
	name := c.Dir + "/model"
	write(t, c.FS, name, []byte("old"))
	f, err := c.FS.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := f.Write(noise(70_000)); err != nil {
			t.Fatal(err)
		}
	}
	must(t, c.FS, name, 0, []byte("old"))
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Commit(), f.CommitNew(), f.Abort()); err != nil {
		t.Errorf("calls after Commit: %v", err)
	}
	must(t, c.FS, name, 0, bytes.Repeat(noise(70_000), 3))
	left(t, c.FS, c.Dir)
}

func abort(t *testing.T, c Config) {
	name := c.Dir + "/model"
	f, err := c.FS.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Abort(), f.Abort(), f.Commit()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.FS.Stat(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that was given up is there: %v", err)
	}
	left(t, c.FS, c.Dir)
}

func commitNew(t *testing.T, c Config) {
	name := c.Dir + "/model"
	for i, want := range []error{nil, fs.ErrExist} {
		f, err := c.FS.Create(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(f, "writer %d", i); err != nil {
			t.Fatal(err)
		}
		if err := f.CommitNew(); !errors.Is(err, want) {
			t.Errorf("writer %d: %v, want %v", i, err, want)
		}
		if err := errors.Join(f.CommitNew(), f.Commit(), f.Abort()); err != nil {
			t.Errorf("calls after CommitNew: %v", err)
		}
	}
	must(t, c.FS, name, 0, []byte("writer 0"))
	left(t, c.FS, c.Dir)
}

func commitIf(t *testing.T, c Config) {
	name := c.Dir + "/model"
	write(t, c.FS, name, []byte("old"))
	denied := errors.New("denied")
	for _, want := range []error{denied, nil} {
		f, err := c.FS.Create(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("new")); err != nil {
			t.Fatal(err)
		}
		asked := 0
		err = hdfsio.CommitIf(f, func() error {
			asked++
			must(t, c.FS, name, 0, []byte("old"))
			return want
		})
		if !errors.Is(err, want) || asked != 1 {
			t.Errorf("a condition with the error %v: got %v, and it was checked %d times", want, err, asked)
		}
		if err := errors.Join(f.Commit(), f.CommitNew(), f.Abort()); err != nil {
			t.Errorf("calls after CommitIf: %v", err)
		}
		text := "new"
		if want != nil {
			text = "old"
		}
		must(t, c.FS, name, 0, []byte(text))
		left(t, c.FS, c.Dir)
	}
}
