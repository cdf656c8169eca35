// SPDX-License-Identifier: Apache-2.0

//go:build unix

package hdfsio

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestInterruptedRead ends reads that wait for data. The write ends stay open, so that only the
// end of the context can end them.
func TestInterruptedRead(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		open func(t *testing.T, ctx context.Context) (r io.ReadCloser, w *os.File)
	}{
		{"blocking pipe", func(t *testing.T, ctx context.Context) (io.ReadCloser, *os.File) {
			var fds [2]int
			if err := syscall.Pipe(fds[:]); err != nil {
				t.Fatal(err)
			}
			f, w := os.NewFile(uintptr(fds[0]), "stdin"), os.NewFile(uintptr(fds[1]), "writer")
			t.Cleanup(func() { f.Close() })
			r, err := Interruptible(ctx, f)
			if err != nil {
				t.Fatal(err)
			}
			return r, w
		}},
		{"FIFO", func(t *testing.T, ctx context.Context) (io.ReadCloser, *os.File) {
			w, err := os.OpenFile(fifo, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Local{}.Open(ctx, fifo, 0)
			if err != nil {
				t.Fatal(err)
			}
			return r, w
		}},
		{"FIFO without a writer", func(t *testing.T, ctx context.Context) (io.ReadCloser, *os.File) {
			if runtime.GOOS != "linux" {
				t.Skip("opening a FIFO waits for a writer on this system")
			}
			r, err := Local{}.Open(ctx, fifo, 0)
			if err != nil {
				t.Fatal(err)
			}
			return r, nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cause := errors.New("enough examples")
			ctx, cancel := context.WithCancelCause(t.Context())
			r, w := c.open(t, ctx)
			b := make([]byte, 10)
			if w != nil {
				defer w.Close()
				if _, err := w.WriteString("1 |a\n"); err != nil {
					t.Fatal(err)
				}
				if n, err := r.Read(b); string(b[:n]) != "1 |a\n" || err != nil {
					t.Fatalf("read %q, %v", b[:n], err)
				}
			}
			result := make(chan error)
			go func() {
				_, err := r.Read(b)
				result <- err
			}()
			runtime.Gosched() // the read may also begin after the end of ctx
			cancel(cause)
			if err := <-result; !errors.Is(err, cause) {
				t.Errorf("a read that waits: %v, want %v", err, cause)
			}
			if _, err := r.Read(b); !errors.Is(err, cause) {
				t.Errorf("a later read: %v, want %v", err, cause)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestInterruptibleClose ends a read by Close, and releases every descriptor.
func TestInterruptibleClose(t *testing.T) {
	f, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer f.Close()
	in, err := Interruptible(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	result := make(chan error)
	go func() {
		_, err := in.Read(make([]byte, 1))
		result <- err
	}()
	runtime.Gosched()
	if err := errors.Join(in.Close(), in.Close()); err != nil {
		t.Error(err)
	}
	if err := <-result; !errors.Is(err, os.ErrClosed) {
		t.Errorf("the read: %v, want %v", err, os.ErrClosed)
	}
	r := in.(*interruptible)
	for _, end := range []*os.File{r.wake, r.end} {
		if err := end.Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s is still open", end.Name())
		}
	}
	if _, err := f.Stat(); err != nil {
		t.Errorf("the file is closed: %v", err)
	}
}

// TestInterruptibleReadsAll reads text that comes in pieces to its end, from a FIFO whose
// writer comes after the reader.
func TestInterruptibleReadsAll(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	want := strings.Repeat("1 |a some features\n", 20000)
	wrote := make(chan error, 1)
	go func() {
		w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
		if err == nil {
			_, err = w.WriteString(want)
			err = errors.Join(err, w.Close())
		}
		wrote <- err
	}()
	r, err := Local{}.Open(t.Context(), fifo, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close(), <-wrote); err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}
