// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/hdfsio/fstest"
)

// disk is a Backend over a folder. fail can make a call fail before its effect, forget after
// it.
type disk struct {
	dir    string
	fail   func(op, path string) error
	forget func(op string) error
	short  int64 // limit of a read in bytes; 0: none
}

func (d *disk) String() string { return "disk" }
func (d *disk) Seeks() bool    { return true }

func (d *disk) local(p string) string { return filepath.Join(d.dir, p) }

func (d *disk) begin(op, path string) error {
	if d.fail == nil {
		return nil
	}
	return d.fail(op, path)
}

func (d *disk) end(op string, err error) error {
	if err == nil && d.forget != nil {
		return d.forget(op)
	}
	return err
}

func (d *disk) Open(p string, offset int64) (io.ReadCloser, error) {
	if err := d.begin("open", p); err != nil {
		return nil, err
	}
	f, err := os.Open(d.local(p))
	if err == nil {
		_, err = f.Seek(offset, io.SeekStart)
	}
	if err != nil || d.short == 0 {
		return f, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(f, d.short), f}, nil
}

func (d *disk) Put(p string, r io.Reader, perm fs.FileMode) error {
	if err := d.begin("put", p); err != nil {
		return err
	}
	b, err := io.ReadAll(r)
	if err == nil {
		err = os.WriteFile(d.local(p), b, perm)
	}
	return d.end("put", err)
}

func (d *disk) Rename(from, to string, replace bool) error {
	if err := d.begin("rename", from); err != nil {
		return err
	}
	if replace {
		return d.end("rename", os.Rename(d.local(from), d.local(to)))
	}
	err := os.Link(d.local(from), d.local(to))
	if err == nil {
		err = os.Remove(d.local(from))
	}
	return d.end("rename", err)
}

func (d *disk) Stat(p string) (hdfsio.Info, error) {
	if err := d.begin("stat", p); err != nil {
		return hdfsio.Info{}, err
	}
	fi, err := os.Stat(d.local(p))
	if err != nil {
		return hdfsio.Info{}, err
	}
	return hdfsio.Info{Name: path.Base(p), Size: fi.Size(), Modified: fi.ModTime(), Mode: fi.Mode()}, nil
}

func (d *disk) ReadDir(p string) ([]hdfsio.Info, error) {
	if err := d.begin("list", p); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(d.local(p))
	var infos []hdfsio.Info
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil {
			return nil, err
		}
		infos = append(infos, hdfsio.Info{Name: e.Name(), Size: fi.Size(), Modified: fi.ModTime(), Mode: fi.Mode()})
	}
	return infos, err
}

func (d *disk) Remove(p string) error {
	if err := d.begin("remove", p); err != nil {
		return err
	}
	return d.end("remove", os.Remove(d.local(p)))
}

func (d *disk) Mkdir(p string) error { return os.MkdirAll(d.local(p), 0o777) }

func newFS(t *testing.T) (*FS, *disk) {
	t.Helper()
	d := &disk{dir: t.TempDir()}
	f, err := New(d, Config{Prefix: "x://h", Host: "here", Pid: 7, Spool: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return f, d
}

// weights returns a new file x://h/model that has the contents "weights" and is not committed.
func weights(t *testing.T, f *FS) hdfsio.File {
	t.Helper()
	out, err := f.Create(t.Context(), "x://h/model")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(out, "weights"); err != nil {
		t.Fatal(err)
	}
	return out
}

func (d *disk) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(d.local(name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

var errBroken = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}

func TestConformance(t *testing.T) {
	f, _ := newFS(t)
	fstest.Run(t, fstest.Config{FS: f, Dir: "x://h"})
}

// Each try that transfers data restarts the time limit, and each byte is delivered once.
func TestReadsGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, d := newFS(t)
		text := strings.Repeat("0123456789", 100)
		d.write(t, "file", text)
		d.short = 90
		opens := 0
		d.fail = func(op, _ string) error {
			if op == "open" {
				if opens++; opens%2 == 0 {
					return errBroken
				}
			}
			return nil
		}
		begun := time.Now()
		r, err := f.Open(t.Context(), "x://h/file", 5)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil || string(got) != text[5:] {
			t.Errorf("%d bytes, %v, want %d", len(got), err, len(text)-5)
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%v of waiting for 22 short breaks", took)
		}
	})
}

func TestPatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, d := newFS(t)
		d.write(t, "file", "text")
		d.short = 1
		r, err := f.Open(t.Context(), "x://h/file", 0)
		if err != nil {
			t.Fatal(err)
		}
		d.fail = func(op, _ string) error {
			if op == "open" {
				return errBroken
			}
			return nil
		}
		begun := time.Now()
		_, err = io.ReadAll(r)
		for _, want := range []string{"cannot read x://h/file", "(disk)", "connection reset", "tried for 2m0s"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v does not say %q", err, want)
			}
		}
		if took := time.Since(begun); took < 2*time.Minute || took > 3*time.Minute {
			t.Errorf("it was tried for %v", took)
		}
		if _, again := r.Read(make([]byte, 1)); !errors.Is(again, err) {
			t.Errorf("another read: %v", again)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAFileThatChangesIsNotReadOn(t *testing.T) {
	f, d := newFS(t)
	d.write(t, "file", "long enough")
	d.short = 4
	r, err := f.Open(t.Context(), "x://h/file", 0)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4)
	if _, err := io.ReadFull(r, b); err != nil {
		t.Fatal(err)
	}
	d.write(t, "file", "something else")
	if _, err = r.Read(b); err == nil || !strings.Contains(err.Error(), "replaced while it was read") {
		t.Errorf("%v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// After any failure in a commit, or any lost response, the file exists once and complete, and
// there is no temporary file.
func TestCommitsStartAgain(t *testing.T) {
	for _, op := range []string{"put", "rename", "stat", "remove"} {
		for _, lost := range []bool{false, true} {
			for _, replace := range []bool{true, false} {
				t.Run(fmt.Sprint(op, lost, replace), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						f, d := newFS(t)
						out := weights(t, f)
						left := 3
						once := func(at string) error {
							if at == op && left > 0 {
								left--
								return errBroken
							}
							return nil
						}
						if lost {
							d.forget = once
						} else {
							d.fail = func(at, _ string) error { return once(at) }
						}
						commit := out.Commit
						if !replace {
							commit = out.CommitNew
						}
						if err := commit(); err != nil {
							t.Fatal(err)
						}
						d.fail, d.forget = nil, nil
						if b, err := os.ReadFile(d.local("model")); err != nil || string(b) != "weights" {
							t.Errorf("%q, %v", b, err)
						}
						if err := f.RemoveTemp("x://h/model", 7); err != nil {
							t.Error(err)
						}
						if found, _ := filepath.Glob(d.local(".*")); len(found) > 0 {
							t.Errorf("left behind: %v", found)
						}
					})
				})
			}
		}
	}
}

// A failed rename is not taken for complete because another file of that size has the name.
func TestAnotherFileOfThatSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, d := newFS(t)
		out := weights(t, f)
		d.fail = func(op, path string) error {
			if op != "rename" {
				return nil
			}
			d.fail = nil
			d.write(t, "model", "WEIGHTS")
			if err := os.Remove(d.local(path)); err != nil { // another process removes the file
				t.Error(err)
			}
			return errBroken
		}
		if err := out.Commit(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Commit: %v", err)
		}
		if b, err := os.ReadFile(d.local("model")); err != nil || string(b) != "WEIGHTS" {
			t.Errorf("%q, %v", b, err)
		}
	})
}

// The end of a context ends the wait for another try of each call.
func TestCancelledWaits(t *testing.T) {
	calls := map[string]func(ctx context.Context, f *FS, out hdfsio.File, in io.Reader) error{
		"open": func(ctx context.Context, f *FS, _ hdfsio.File, _ io.Reader) error {
			_, err := f.Open(ctx, "x://h/old", 0)
			return err
		},
		"create": func(ctx context.Context, f *FS, _ hdfsio.File, _ io.Reader) error {
			_, err := f.Create(ctx, "x://h/a")
			return err
		},
		"stat": func(ctx context.Context, f *FS, _ hdfsio.File, _ io.Reader) error {
			_, err := f.Stat(ctx, "x://h/old")
			return err
		},
		"list": func(ctx context.Context, f *FS, _ hdfsio.File, _ io.Reader) error {
			_, err := f.List(ctx, "x://h/*")
			return err
		},
		"remove": func(ctx context.Context, f *FS, _ hdfsio.File, _ io.Reader) error { return f.Remove(ctx, "x://h/old") },
		"read": func(_ context.Context, _ *FS, _ hdfsio.File, in io.Reader) error {
			_, err := io.ReadAll(in)
			return err
		},
		"commit": func(_ context.Context, _ *FS, out hdfsio.File, _ io.Reader) error { return out.Commit() },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, d := newFS(t)
				d.write(t, "old", "something")
				cause := errors.New("told to end")
				ctx, cancel := context.WithCancelCause(t.Context())
				out, err := f.Create(ctx, "x://h/model")
				if err != nil {
					t.Fatal(err)
				}
				defer func() {
					d.fail = nil
					if err := out.Abort(); err != nil {
						t.Error(err)
					}
				}()
				in, err := f.Open(ctx, "x://h/old", 0)
				if err != nil {
					t.Fatal(err)
				}
				defer in.Close()
				in.(*reader).drop() // the connection breaks
				d.fail = func(string, string) error { return errBroken }
				began := time.Now()
				time.AfterFunc(time.Second, func() { cancel(cause) })
				if err := call(ctx, f, out, in); !errors.Is(err, cause) {
					t.Errorf("%v, want %v", err, cause)
				}
				if took := time.Since(began); took != time.Second {
					t.Errorf("ended after %v, want 1s", took)
				}
			})
		})
	}
}

// A write that fails permanently leaves only the old file.
func TestAFileThatCannotBeWritten(t *testing.T) {
	f, d := newFS(t)
	d.write(t, "model", "old")
	out := weights(t, f)
	d.fail = func(op, _ string) error {
		if op == "put" {
			return Refuse("org.apache.hadoop.hdfs.protocol.DSQuotaExceededException", "The DiskSpace quota of /q is exceeded\n\tat java")
		}
		return nil
	}
	err := out.Commit()
	for _, want := range []string{"cannot write x://h/model (disk)", "DiskSpace quota of /q", "-setSpaceQuota"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "at java") {
		t.Errorf("%v has Java's stack", err)
	}
	if b, err := os.ReadFile(d.local("model")); err != nil || string(b) != "old" {
		t.Errorf("%q, %v", b, err)
	}
	if found, _ := filepath.Glob(d.local(".*")); len(found) > 0 {
		t.Errorf("left behind: %v", found)
	}
}

func TestRemoveTemps(t *testing.T) {
	f, d := newFS(t)
	files := []string{
		".model.writing-7-here-1", ".model.writing-8-here-1", ".model.writing-7-there-1",
		".model.ckpt.r1.writing-7-here-1", ".other.writing-7-here-1", "model",
	}
	for _, name := range files {
		d.write(t, name, "")
	}
	check := func(what string, want ...string) {
		t.Helper()
		entries, err := os.ReadDir(d.dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, e.Name())
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: left are %v, want %v", what, got, want)
		}
	}
	if err := f.RemoveTemp("x://h/model", 8); err != nil {
		t.Error(err)
	}
	check("process 8 of model", ".model.ckpt.r1.writing-7-here-1", ".model.writing-7-here-1", ".model.writing-7-there-1", ".other.writing-7-here-1", "model")
	if err := f.RemoveTemps("x://h/model", 7); err != nil {
		t.Error(err)
	}
	check("process 7 of what begins with model", ".model.writing-7-there-1", ".other.writing-7-here-1", "model")
	if err := f.RemoveTemps("x://h/model", 0); err != nil {
		t.Error(err)
	}
	check("anybody", ".other.writing-7-here-1", "model")
	if err := f.RemoveTemps("x://h/none/model", 0); err != nil {
		t.Error(err)
	}
}

func TestASpoolWithoutSpace(t *testing.T) {
	d := &disk{dir: t.TempDir()}
	f, err := New(d, Config{Prefix: "x://h", Host: "here", Spool: filepath.Join(t.TempDir(), "none")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Create(t.Context(), "x://h/model"); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("%v", err)
	}
}

func TestNamesOfOthersAreRefused(t *testing.T) {
	f, _ := newFS(t)
	for _, name := range []string{"x://other/file", "file", "x://hfile"} {
		if _, err := f.Stat(t.Context(), name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(&disk{}, Config{Prefix: "x://h/", Patience: -1}); err == nil || !strings.Contains(err.Error(), "Prefix") || !strings.Contains(err.Error(), "Host") || !strings.Contains(err.Error(), "Patience") {
		t.Errorf("%v does not name all faults", err)
	}
}

func TestTransient(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{errBroken, true},
		{io.ErrUnexpectedEOF, true},
		{&net.DNSError{Err: "no such host", IsNotFound: true}, false},
		{Refuse("SafeModeException", "Name node is in safe mode"), true},
		{Refuse("x.y.StandbyException", ""), true},
		{Refuse("IOException", "File /f could only be written to 0 of the 1 minReplication nodes"), true},
		{Refuse("IOException", "something"), false},
		{Refuse("AccessControlException", "Permission denied"), false},
		{fmt.Errorf("a file: %w", fs.ErrNotExist), false},
		{errors.ErrUnsupported, false},
		{errors.New("anything"), false},
	} {
		if got := Transient(c.err); got != c.want {
			t.Errorf("%v: transient is %v, want %v", c.err, got, c.want)
		}
	}
}

func TestBlocksAreUnknown(t *testing.T) {
	f, d := newFS(t)
	d.write(t, "file", "x")
	if _, err := f.Blocks(t.Context(), "x://h/file"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v", err)
	}
	if caps, err := f.Caps("x://h/file"); err != nil || caps.Near || !caps.Seek {
		t.Errorf("%+v, %v", caps, err)
	}
}

// A read waits for the response to what is written meanwhile, up to its limit after the last write.
func TestWritesExtendReads(t *testing.T) {
	for pause, want := range map[time.Duration]error{50 * time.Second: nil, 70 * time.Second: os.ErrDeadlineExceeded} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			c, err := Dialer{Connect: func(context.Context, string, string) (net.Conn, error) { return near, nil }}.Dial(t.Context(), "tcp", "h")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			go func() {
				defer far.Close()
				_, _ = io.ReadFull(far, make([]byte, 10))
				time.Sleep(pause)
				_, _ = far.Write([]byte("y"))
			}()
			read := make(chan error, 1)
			go func() {
				_, err := c.Read(make([]byte, 1))
				read <- err
			}()
			for range 10 {
				time.Sleep(50 * time.Second)
				if _, err := c.Write([]byte("x")); err != nil {
					t.Error(err)
				}
			}
			if err := <-read; !errors.Is(err, want) {
				t.Errorf("a response %v after the last write: got %v, want %v", pause, err, want)
			}
			time.Sleep(pause) // the server ends
		})
	}
}

// A connection ends with its first failure, and a timeout is a failure.
func TestConnectionsHaveAnEnd(t *testing.T) {
	a, b := net.Pipe()
	c := &limited{Conn: a, idle: 50 * time.Millisecond}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a silent server: %v", err)
	}
	if _, err := b.Write([]byte("late")); err == nil {
		t.Error("the connection is still open")
	}
	if _, err := c.Write([]byte("x")); err == nil {
		t.Error("a write after that: no error")
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
