// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// stuck is a file system with one file, whose calls of one kind do not return until release is
// closed.
type stuck struct {
	FS
	op      string
	mode    fs.FileMode
	release chan struct{}
	closed  int
}

func (s *stuck) wait(op string) {
	if op == s.op {
		<-s.release
	}
}

func (s *stuck) Stat(_ context.Context, name string) (Info, error) {
	s.wait("stat")
	return Info{Name: name, Mode: s.mode}, nil
}

func (s *stuck) Open(context.Context, string, int64) (io.ReadCloser, error) {
	s.wait("open")
	return s, nil
}

func (s *stuck) Read(b []byte) (int, error) {
	s.wait("read")
	return copy(b, "examples"), nil
}

func (s *stuck) Close() error {
	s.wait("close")
	s.closed++
	return nil
}

// readOnce opens a file, reads from it and closes it.
func readOnce(ctx context.Context, fsys FS) error {
	r, err := fsys.Open(ctx, "/far/data", 0)
	if err != nil {
		return err
	}
	b := make([]byte, 100)
	n, err := r.Read(b)
	if err == nil && string(b[:n]) != "examples" {
		err = io.ErrUnexpectedEOF
	}
	_, again := r.Read(b)
	if err != nil && again != err {
		err = errors.New("the next read has another result than the one that failed")
	}
	return errors.Join(err, r.Close())
}

// For each call of reading a file that hangs, the log names the file within ten seconds, and an
// error with the file and the time ends the attempt. The file is closed when the call returns.
func TestHungReads(t *testing.T) {
	for _, op := range []string{"stat", "open", "read", "close", "nothing"} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			s := &stuck{op: op, release: make(chan struct{})}
			w := &Watched{FS: s, Within: time.Minute, Log: slog.New(slog.NewTextHandler(&log, nil))}
			began := time.Now()
			err := readOnce(t.Context(), w)
			took := time.Since(began)
			close(s.release)
			synctest.Wait()
			if want := 1; op != "stat" && s.closed != want {
				t.Errorf("%s: the file was closed %d times, want %d", op, s.closed, want)
			}
			if op == "nothing" {
				if err != nil || took > 0 || log.Len() > 0 {
					t.Errorf("with nothing that hangs: %v after %v; log: %s", err, took, &log)
				}
				return
			}
			e, ok := errors.AsType[*Error](err)
			if !ok || !errors.Is(err, ErrHung) || e.Name != "/far/data" || !strings.Contains(err.Error(), "after 1m0s") {
				t.Errorf("%s: got %v, want an *Error that names the file and the time, and ErrHung", op, err)
			}
			if took != time.Minute {
				t.Errorf("%s: it took %v, want a minute", op, took)
			}
			first, _, _ := strings.Cut(log.String(), "\n")
			for _, want := range []string{"since=5s", "file=/far/data", "to="} {
				if !strings.Contains(first, want) {
					t.Errorf("%s: the log begins with %q, want %s", op, first, want)
				}
			}
		})
	}
}

// Without a limit, a read that hangs is logged and continues to wait.
func TestHungReadsWithoutALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := &stuck{op: "read", release: make(chan struct{})}
		time.AfterFunc(time.Hour, func() { close(s.release) })
		if err := readOnce(t.Context(), &Watched{FS: s, Log: slog.New(slog.NewTextHandler(&log, nil))}); err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), "to=read"); n < 100 {
			t.Errorf("%d lines of the log name the read, want one every 5 s", n)
		}
	})
}

// A FIFO, a device or a socket may be silent without a limit.
func TestNoLimitOnReadsOfPipes(t *testing.T) {
	for _, mode := range []fs.FileMode{fs.ModeNamedPipe, fs.ModeDevice | fs.ModeCharDevice, fs.ModeSocket} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			s := &stuck{op: "read", mode: mode, release: make(chan struct{})}
			time.AfterFunc(10*time.Hour, func() { close(s.release) })
			w := &Watched{FS: s, Within: time.Minute, Log: slog.New(slog.NewTextHandler(&log, nil))}
			if err := readOnce(t.Context(), w); err != nil || log.Len() > 0 {
				t.Errorf("%v: %v; log: %s", mode, err, &log)
			}
		})
	}
}

// A read that hangs ends with its context, or when another goroutine closes the reader.
func TestHungReadsAreInterrupted(t *testing.T) {
	errStop := errors.New("stop")
	for name, end := range map[string]func(context.CancelCauseFunc, io.Closer){
		"context": func(cancel context.CancelCauseFunc, _ io.Closer) { cancel(errStop) },
		"close":   func(_ context.CancelCauseFunc, r io.Closer) { _ = r.Close() },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &stuck{op: "read", release: make(chan struct{})}
			ctx, cancel := context.WithCancelCause(t.Context())
			r, err := (&Watched{FS: s, Within: time.Minute}).Open(ctx, "/far/data", 0)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			time.AfterFunc(time.Second, func() { end(cancel, r) })
			_, err = r.Read(make([]byte, 10))
			if took := time.Since(began); err == nil || name == "context" && !errors.Is(err, errStop) || errors.Is(err, ErrHung) || took != time.Second {
				t.Errorf("%s: got %v after %v", name, err, took)
			}
			if err := r.Close(); err != nil {
				t.Errorf("%s: Close: %v", name, err)
			}
			close(s.release)
			synctest.Wait()
			if s.closed != 1 {
				t.Errorf("%s: the file was closed %d times", name, s.closed)
			}
		})
	}
}

// Watching a read does not allocate.
func TestWatchedReadsAllocateNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(name, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := (&Watched{FS: Local{}, Within: time.Minute}).Open(t.Context(), name, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b := make([]byte, 1<<10)
	if n := testing.AllocsPerRun(500, func() {
		if _, err := io.ReadFull(r, b); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a read", n)
	}
}
