// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"
)

// ErrHung is what an [*Error] unwraps to if the file system has not answered in time. The
// file system of another machine may work.
var ErrHung = fmt.Errorf("no answer: does the file system hang? %w", os.ErrDeadlineExceeded)

const (
	sayHung     = 5 * time.Second // the log names a wait after so long, and again each time
	abortWithin = 5 * time.Second // for removing what was not committed
)

// Watched is a file system whose calls are watched: the log names a call that takes long, and
// a call that does not return in time fails. A call to a file system that hangs cannot be
// ended. So each runs on another goroutine, which outlives a call that has failed in this way
// until the file system returns from it.
//
// What is no regular file is read directly and written without a limit: a pipe may have
// nothing to read for hours.
type Watched struct {
	FS
	// Within is how long a call may take; 0: for ever.
	Within time.Duration
	// Log names calls that take long; nil: they are not named.
	Log *slog.Logger
}

var (
	_ FS      = (*Watched)(nil)
	_ Capable = (*Watched)(nil)
	_ Locator = (*Watched)(nil)
)

// do runs f, which does op to the file name, for at most a time; 0: for ever. If it returns
// ErrHung, f still runs; late is called when f has returned after that. nil: nothing is.
func (w *Watched) do(op, name string, within time.Duration, f func() error, late func()) error {
	c := w.calls(context.Background(), name, within)
	err := c.Last(op, f)
	if c.left != nil && late != nil {
		c.caller.finally(func() error {
			late()
			return nil
		})
	}
	return err
}

// Create starts a file that replaces name when it is committed.
func (w *Watched) Create(ctx context.Context, name string) (File, error) {
	within := w.Within
	if info, err := w.Stat(ctx, name); err == nil && !info.Mode.IsRegular() {
		within = 0
	} else if errors.Is(err, ErrHung) {
		return nil, err
	}
	made, err := answer(w, "create", name, within, func() (File, error) { return w.FS.Create(ctx, name) }, func(f File) { _ = f.Abort() })
	if err != nil {
		return nil, err
	}
	return newWatchedFile(w.calls(context.WithoutCancel(ctx), name, within), made), nil
}

// Stat describes a file or folder.
func (w *Watched) Stat(ctx context.Context, name string) (Info, error) {
	return answer(w, "open", name, w.Within, func() (Info, error) { return w.FS.Stat(ctx, name) }, nil)
}

// List returns what matches a pattern.
func (w *Watched) List(ctx context.Context, pattern string) ([]Info, error) {
	return answer(w, "list", pattern, w.Within, func() ([]Info, error) { return w.FS.List(ctx, pattern) }, nil)
}

// Remove removes a file or an empty folder.
func (w *Watched) Remove(ctx context.Context, name string) error {
	return w.do("remove", name, w.Within, func() error { return w.FS.Remove(ctx, name) }, nil)
}

// Mkdir makes a folder and its missing parents.
func (w *Watched) Mkdir(ctx context.Context, name string) error {
	return w.do("make folder", name, w.Within, func() error { return w.FS.Mkdir(ctx, name) }, nil)
}

// RemoveAsides removes what processes have left half written, on file systems that can tell.
func (w *Watched) RemoveAsides(prefix string, pid int) error {
	f, ok := w.FS.(interface{ RemoveAsides(string, int) error })
	if !ok {
		return nil
	}
	return w.do("remove", prefix, w.Within, func() error { return f.RemoveAsides(prefix, pid) }, nil)
}

// RemoveAside removes what a process has left of name, on file systems that can tell.
func (w *Watched) RemoveAside(name string, pid int) error {
	f, ok := w.FS.(interface{ RemoveAside(string, int) error })
	if !ok {
		return nil
	}
	return w.do("remove", name, w.Within, func() error { return f.RemoveAside(name, pid) }, nil)
}

// Caps returns what the file system below is good at.
func (w *Watched) Caps(name string) (Caps, error) { return CapsOf(w.FS, name) }

// Blocks tells where a file is, if the file system below can.
func (w *Watched) Blocks(ctx context.Context, name string) ([]Block, error) {
	if l, ok := w.FS.(Locator); ok {
		return l.Blocks(ctx, name)
	}
	return nil, errNoBlocks
}

// answer is do for a call with a result. One that comes too late goes to dropped, if it is not
// nil.
func answer[T any](w *Watched, op, name string, within time.Duration, f func() (T, error), dropped func(T)) (T, error) {
	var got, none T // got is f's: it may come when the caller has gone
	var failed error
	err := w.do(op, name, within, func() error {
		got, failed = f()
		return failed
	}, func() {
		if failed == nil && dropped != nil {
			dropped(got)
		}
	})
	if errors.Is(err, ErrHung) {
		return none, err
	}
	return got, err
}

// watchedFile is a file under way. One goroutine uses it.
type watchedFile struct {
	file  File
	calls *Calls
	buf   []byte // of the write under way: the caller's may be used again after an error
	n     int    // what that has written
	write func() error
}

func newWatchedFile(calls *Calls, file File) *watchedFile {
	f := &watchedFile{file: file, calls: calls}
	f.write = func() (err error) {
		f.n, err = f.file.Write(f.buf)
		return err
	}
	return f
}

func (f *watchedFile) Write(b []byte) (int, error) {
	if f.calls.left != nil {
		return 0, f.calls.left // buf is in use
	}
	f.buf = append(f.buf[:0], b...)
	returned, err := f.calls.call("write", f.write)
	if !returned {
		return 0, err
	}
	return f.n, err
}

func (f *watchedFile) Commit() error    { return f.finish(f.file.Commit) }
func (f *watchedFile) CommitNew() error { return f.finish(f.file.CommitNew) }

// finish makes the file final, unless a write hangs. Then Abort removes it later.
func (f *watchedFile) finish(commit func() error) error {
	if f.calls.left != nil {
		return f.calls.left
	}
	return f.calls.Last("write", commit)
}

// Abort removes what was written. A file system that hangs does so later, or never.
func (f *watchedFile) Abort() error {
	f.calls.within = min(f.calls.within, abortWithin)
	return f.calls.Last("remove", f.file.Abort)
}
