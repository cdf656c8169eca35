// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// hanging is a file system whose calls of one kind hang until release is closed.
type hanging struct {
	Local
	op      string
	release chan struct{}
	far     bool // files are on other machines
}

func (h *hanging) Caps(string) (Caps, error) { return Caps{Seek: true, Near: !h.far}, nil }

func (h *hanging) wait(op string) {
	if op == h.op {
		<-h.release
	}
}

func (h *hanging) Create(ctx context.Context, name string) (File, error) {
	h.wait("create")
	f, err := h.Local.Create(ctx, name)
	return &hangingFile{f, h}, err
}

func (h *hanging) Stat(ctx context.Context, name string) (Info, error) {
	h.wait("stat")
	return h.Local.Stat(ctx, name)
}

func (h *hanging) List(ctx context.Context, pattern string) ([]Info, error) {
	h.wait("list")
	return h.Local.List(ctx, pattern)
}

func (h *hanging) Remove(ctx context.Context, name string) error {
	h.wait("remove")
	return h.Local.Remove(ctx, name)
}

type hangingFile struct {
	File
	h *hanging
}

func (f *hangingFile) Write(b []byte) (int, error) {
	f.h.wait("write")
	return f.File.Write(b)
}

func (f *hangingFile) Commit() error {
	f.h.wait("commit")
	return f.File.Commit()
}

// writeAll writes a file, reuses its buffer as soon as possible, and removes an old file.
func writeAll(fsys FS, dir string) error {
	ctx := context.Background()
	name := filepath.Join(dir, "model")
	f, err := fsys.Create(ctx, name)
	if err != nil {
		return err
	}
	b := []byte("weights")
	_, err = f.Write(b)
	clear(b)
	if err == nil {
		err = f.Commit()
	}
	if err == nil {
		_, err = fsys.List(ctx, name+"*")
	}
	if err != nil {
		return errors.Join(err, f.Abort())
	}
	return fsys.Remove(ctx, name)
}

// TestHungFileSystems: for each call that hangs, the log names it within ten seconds, and it
// ends after Within with the name of the file. When the file system responds again, no
// goroutine or file is left.
func TestHungFileSystems(t *testing.T) {
	for _, op := range []string{"stat", "create", "write", "commit", "list", "remove", "nothing"} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			h := &hanging{op: op, release: make(chan struct{})}
			w := &Watched{FS: h, Within: time.Minute, Log: slog.New(slog.NewTextHandler(&log, nil))}
			began := time.Now()
			err := writeAll(w, dir)
			took := time.Since(began)
			close(h.release)
			synctest.Wait()
			if op == "nothing" {
				if err != nil || took > 0 {
					t.Errorf("with nothing that hangs: %v after %v", err, took)
				}
				return
			}
			e, ok := errors.AsType[*Error](err)
			if !ok || !errors.Is(err, ErrHung) || !strings.HasPrefix(e.Name, filepath.Join(dir, "model")) {
				t.Errorf("%s: got %v, want an *Error that names the file, and ErrHung", op, err)
			}
			if took != time.Minute {
				t.Errorf("%s: it took %v, want a minute", op, took)
			}
			if first, _, _ := strings.Cut(log.String(), "\n"); !strings.Contains(first, "since=5s") || !strings.Contains(first, "model") {
				t.Errorf("%s: the log begins with %q, want the file after 5 s", op, first)
			}
			left, err := os.ReadDir(dir)
			if err != nil || len(left) > 1 || len(left) == 1 && left[0].Name() != "model" {
				t.Errorf("%s: there are %v, %v", op, left, err)
			}
		})
	}
}

// TestNoLimitOnCopies: a commit to other machines copies the file, which may take longer than
// Within. All other calls have the limit.
func TestNoLimitOnCopies(t *testing.T) {
	for _, op := range []string{"stat", "create", "write", "commit", "list", "remove"} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			h := &hanging{op: op, release: make(chan struct{}), far: true}
			time.AfterFunc(time.Hour, func() { close(h.release) })
			began := time.Now()
			err := writeAll(&Watched{FS: h, Within: time.Minute}, dir)
			took := time.Since(began)
			if op == "commit" && (err != nil || took != time.Hour) {
				t.Errorf("a commit of an hour: got %v after %v", err, took)
			}
			if op != "commit" && (!errors.Is(err, ErrHung) || took != time.Minute) {
				t.Errorf("%s: got %v after %v, want ErrHung after a minute", op, err, took)
			}
			time.Sleep(2 * time.Hour) // calls that were abandoned return
		})
	}
}

// TestNoLimitOnPipes: reading a pipe may take hours, and a run without Within waits without a
// limit.
func TestNoLimitOnPipes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{op: "write", release: make(chan struct{})}
		w := &Watched{FS: h, Within: time.Minute}
		f, err := w.Create(t.Context(), os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(10*time.Hour, func() { close(h.release) })
		if _, err := f.Write([]byte("x")); err != nil {
			t.Error(err)
		}
		if err := f.Commit(); err != nil {
			t.Error(err)
		}
	})
}

// TestTheLimitOfAConditionalCommit: the time in which the condition is checked does not count.
func TestTheLimitOfAConditionalCommit(t *testing.T) {
	name := filepath.Join(t.TempDir(), "model")
	synctest.Test(t, func(t *testing.T) {
		f, err := (&Watched{FS: Local{}, Within: time.Minute}).Create(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		err = CommitIf(f, func() error {
			time.Sleep(time.Hour)
			return nil
		})
		if _, serr := os.Stat(name); err != nil || serr != nil {
			t.Errorf("got %v, and the file: %v", err, serr)
		}
	})
}

// lateCommit is a file system whose files hang in a commit before they check its condition.
type lateCommit struct{ *hanging }

type lateCommitFile struct {
	File
	h *hanging
}

func (l lateCommit) Create(ctx context.Context, name string) (File, error) {
	f, err := l.Local.Create(ctx, name)
	return &lateCommitFile{f, l.hanging}, err
}

func (f *lateCommitFile) CommitIf(allowed func() error) error {
	f.h.wait("commit")
	return CommitIf(f.File, allowed)
}

// TestNoRenameInAnAbandonedCommit: a commit that exceeds its limit before the check of its condition does not give the file
// its name later.
func TestNoRenameInAnAbandonedCommit(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{op: "commit", release: make(chan struct{})}
		f, err := (&Watched{FS: lateCommit{h}, Within: time.Minute}).Create(t.Context(), filepath.Join(dir, "model"))
		if err != nil {
			t.Fatal(err)
		}
		err = CommitIf(f, func() error {
			t.Error("the condition is checked")
			return nil
		})
		if !errors.Is(err, ErrHung) {
			t.Errorf("got %v, want ErrHung", err)
		}
		close(h.release)
		synctest.Wait()
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("there are %v, %v", left, err)
		}
	})
}
