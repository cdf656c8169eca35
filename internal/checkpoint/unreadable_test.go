// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/hdfsio"
)

// refusing is a file system on which some files cannot be opened or read.
type refusing struct {
	hdfsio.FS
	open, read map[string]error // by the end of the name
}

func (r refusing) Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	for end, err := range r.open {
		if strings.HasSuffix(name, end) {
			return nil, &hdfsio.Error{Op: "open", Name: name, Err: err}
		}
	}
	in, err := r.FS.Open(ctx, name, offset)
	for end, failed := range r.read {
		if strings.HasSuffix(name, end) {
			half := io.LimitReader(in, 100)
			return struct {
				io.Reader
				io.Closer
			}{io.MultiReader(half, iotest.ErrReader(&hdfsio.Error{Op: "read", Name: name, Err: failed})), in}, err
		}
	}
	return in, err
}

// A checkpoint that cannot be read is an error where it may be the newest that counts: a job that
// ignored it would start from an older one, or from the beginning.
func TestUnreadableCheckpoints(t *testing.T) {
	s, _ := store(t)
	run := *s
	run.Own(allreduce.Owner{Options: [32]byte{1}, Run: "job_6"})
	save(t, &run, point(1, 2), "an earlier run")
	resumed := *s
	resumed.Resume = true
	denied := map[string]error{".e1.1.s2": fs.ErrPermission}
	for _, c := range []struct {
		what       string
		by         *Store
		open, read map[string]error
		want       error
		step       uint64
	}{
		{"of another run", s, denied, nil, nil, 0},
		{"of another run, to resume", &resumed, denied, nil, fs.ErrPermission, 0},
		{"of another run, to resume, in the middle", &resumed, nil, map[string]error{".e1.1.s2": syscall.EIO}, syscall.EIO, 0},
		{"of another run, to resume, removed meanwhile", &resumed, map[string]error{".e1.1.s2": fs.ErrNotExist}, nil, nil, 0},
	} {
		expect(t, c.what, c.by, refusing{s.FS, c.open, c.read}, c.want, c.step)
	}
	save(t, s, point(2, 4), "four of a later epoch")
	save(t, s, point(1, 9), "nine")
	for _, by := range []*Store{s, &resumed} {
		for _, failed := range []error{fs.ErrPermission, syscall.EMFILE, context.Canceled} {
			expect(t, "the newest", by, refusing{s.FS, map[string]error{".e1.1.s9": failed}, nil}, failed, 0)
			expect(t, "the newest, in the middle", by, refusing{s.FS, nil, map[string]error{".e1.1.s9": failed}}, failed, 0)
			expect(t, "the one before", by, refusing{s.FS, map[string]error{".e1.2.s4": failed}, nil}, nil, 9)
			expect(t, "the one before, in the middle", by, refusing{s.FS, nil, map[string]error{".e1.2.s4": failed}}, nil, 9)
		}
		expect(t, "of another run", by, refusing{s.FS, denied, nil}, nil, 9)
		expect(t, "the newest, removed meanwhile", by, refusing{s.FS, map[string]error{".e1.1.s9": fs.ErrNotExist}, nil}, nil, 4)
	}
}

// An unreadable checkpoint of another run counts by its time, as one that can be read does.
func TestUnreadableCheckpointOfAnOlderRun(t *testing.T) {
	s, _ := store(t)
	s.Resume = true
	for i, run := range []string{"job_5", "job_6"} {
		other := *s
		other.Own(allreduce.Owner{Options: [32]byte{1}, Run: run})
		save(t, &other, point(1, uint64(2+i)), run)
		name := other.whole[0].name
		at := time.Now().Add(time.Duration(i-2) * time.Hour)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	older, newer := map[string]error{".e1.1.s2": syscall.EIO}, map[string]error{".e1.1.s3": syscall.EIO}
	for _, run := range []string{"job_7", ""} {
		s.Own(allreduce.Owner{Options: [32]byte{1}, Run: run})
		expect(t, "the older one", s, refusing{s.FS, older, nil}, nil, 3)
		expect(t, "the older one, in the middle", s, refusing{s.FS, nil, older}, nil, 3)
		expect(t, "the newer one", s, refusing{s.FS, newer, nil}, syscall.EIO, 0)
	}
}

// changing is a file system on which another attempt works. The first file with this end of its name calls change when it is
// opened, or else in the middle, and then fails.
type changing struct {
	hdfsio.FS
	end    string
	opens  bool
	fails  error
	change func()
}

func (c *changing) Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	in, err := c.FS.Open(ctx, name, offset)
	if err != nil || c.change == nil || !strings.HasSuffix(name, c.end) {
		return in, err
	}
	change := c.change
	c.change = nil
	if c.opens {
		change()
		return nil, errors.Join(&hdfsio.Error{Op: "open", Name: name, Err: c.fails}, in.Close())
	}
	fail := readFunc(func([]byte) (int, error) {
		change()
		return 0, &hdfsio.Error{Op: "read", Name: name, Err: c.fails}
	})
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(io.LimitReader(in, 100), fail), in}, nil
}

type readFunc func(b []byte) (int, error)

func (f readFunc) Read(b []byte) (int, error) { return f(b) }

// A checkpoint that another attempt removes or replaces while it is read is no error. The newer one of that attempt counts.
func TestCheckpointsChangeWhileTheyAreRead(t *testing.T) {
	replaced := errors.New("it was replaced while it was read")
	for name, c := range map[string]struct {
		end    string // of the file that changes
		opens  bool   // before it is opened; else while it is read
		fails  error
		change func(t *testing.T, other *Store)
		want   uint64
	}{
		"removed, no newer one": {".e1.1.s4", false, fs.ErrNotExist, func(t *testing.T, other *Store) {
			if err := other.remove(t.Context(), other.whole[1].name); err != nil {
				t.Error(err)
			}
		}, 2},
		"removed":                 {".e1.1.s2", false, fs.ErrNotExist, func(t *testing.T, other *Store) { save(t, other, point(1, 6), "six") }, 6},
		"removed before it opens": {".e1.1.s2", true, fs.ErrNotExist, func(t *testing.T, other *Store) { save(t, other, point(1, 6), "six") }, 6},
		"its blocks are removed":  {".e1.1.s2", false, syscall.EIO, func(t *testing.T, other *Store) { save(t, other, point(1, 6), "six") }, 6},
		"the newest one is removed": {".e1.1.s4", false, syscall.EIO, func(t *testing.T, other *Store) {
			save(t, other, point(1, 6), "six")
			save(t, other, point(1, 8), "eight")
		}, 8},
		"replaced": {".e1.1.s4", false, replaced, func(t *testing.T, other *Store) { save(t, other, point(1, 4), "four again") }, 4},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := store(t)
			other := *s
			save(t, &other, point(1, 2), "two")
			save(t, &other, point(1, 4), "four")
			expect(t, name, s, &changing{s.FS, c.end, c.opens, c.fails, func() { c.change(t, &other) }}, nil, c.want)
		})
	}
}

// expect compares what Newest returns on a file system. A checkpoint that it returns can be loaded.
func expect(t *testing.T, what string, by *Store, fsys hdfsio.FS, want error, step uint64) {
	t.Helper()
	s := *by
	s.FS = fsys
	got, err := s.Newest()
	if !errors.Is(err, want) || got != step {
		t.Errorf("%s: got step %d, %v; want %d, %v", what, got, err, step, want)
	}
	if want != nil {
		if _, ok := errors.AsType[*hdfsio.Error](err); !ok || !strings.Contains(err.Error(), "remove the file") {
			t.Errorf("%s: got %v, want an *hdfsio.Error with a remedy", what, err)
		}
	}
	if got > 0 {
		if err := s.Load(got, func(r io.Reader) error { _, err := io.Copy(io.Discard, r); return err }); err != nil {
			t.Errorf("%s: Load: %v", what, err)
		}
	}
}
