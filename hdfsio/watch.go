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

// ErrHung is wrapped by the [*Error] of a call that the file system has not completed in time.
// The file system of another machine may work.
var ErrHung = fmt.Errorf("the file system does not respond: %w", os.ErrDeadlineExceeded)

const (
	sayHung     = 5 * time.Second // interval of log lines about a wait
	abortWithin = 5 * time.Second // limit for removing an uncommitted file
)

// Watched is a file system with limits on its calls: slow calls are logged, and a call that
// exceeds its limit fails. A call to a file system that hangs cannot be interrupted. So each
// runs on another goroutine, which outlives a failed call until the file system returns
// from it.
//
// Files that are not regular are read directly and written without a limit: a pipe may have
// no data for hours. A commit to a file system of other machines is logged, but has no limit
// here: it copies the whole file, and the file system ends a copy without progress.
type Watched struct {
	FS
	// Within is the limit of a call; 0: none.
	Within time.Duration
	// Log receives slow calls; nil: they are not logged.
	Log *slog.Logger
}

var (
	_ FS      = (*Watched)(nil)
	_ Capable = (*Watched)(nil)
	_ Locator = (*Watched)(nil)
)

// do runs f, which does op to the file name, with a limit; 0: none. If it returns
// ErrHung, f still runs, and late is called when it has returned; nil: no function.
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
	f := newWatchedFile(w.calls(context.WithoutCancel(ctx), name, within), made)
	if caps, err := w.Caps(name); err == nil && !caps.Near {
		f.copies = true
	}
	return f, nil
}

// Stat describes a file or directory.
func (w *Watched) Stat(ctx context.Context, name string) (Info, error) {
	return answer(w, "open", name, w.Within, func() (Info, error) { return w.FS.Stat(ctx, name) }, nil)
}

// List returns the files that match a pattern.
func (w *Watched) List(ctx context.Context, pattern string) ([]Info, error) {
	return answer(w, "list", pattern, w.Within, func() ([]Info, error) { return w.FS.List(ctx, pattern) }, nil)
}

// Remove removes a file or an empty directory.
func (w *Watched) Remove(ctx context.Context, name string) error {
	return w.do("remove", name, w.Within, func() error { return w.FS.Remove(ctx, name) }, nil)
}

// Mkdir makes a directory and its missing parents.
func (w *Watched) Mkdir(ctx context.Context, name string) error {
	return w.do("make directory", name, w.Within, func() error { return w.FS.Mkdir(ctx, name) }, nil)
}

// RemoveTemps removes temporary files that processes have left, on file systems that support it.
func (w *Watched) RemoveTemps(prefix string, pid int) error {
	f, ok := w.FS.(interface{ RemoveTemps(string, int) error })
	if !ok {
		return nil
	}
	return w.do("remove", prefix, w.Within, func() error { return f.RemoveTemps(prefix, pid) }, nil)
}

// RemoveTemp removes the temporary files that a process has left of name, on file systems that support it.
func (w *Watched) RemoveTemp(name string, pid int) error {
	f, ok := w.FS.(interface{ RemoveTemp(string, int) error })
	if !ok {
		return nil
	}
	return w.do("remove", name, w.Within, func() error { return f.RemoveTemp(name, pid) }, nil)
}

// Caps returns the capabilities of the underlying file system.
func (w *Watched) Caps(name string) (Caps, error) { return CapsOf(w.FS, name) }

// Blocks returns the locations of a file's blocks, if the underlying file system can report them.
func (w *Watched) Blocks(ctx context.Context, name string) ([]Block, error) {
	if l, ok := w.FS.(Locator); ok {
		return l.Blocks(ctx, name)
	}
	return nil, errNoBlocks
}

// answer is do for a call with a result. A result that arrives too late is passed to dropped, unless
// that is nil.
func answer[T any](w *Watched, op, name string, within time.Duration, f func() (T, error), dropped func(T)) (T, error) {
	var got, none T // only f writes got, maybe after the caller has returned
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

// watchedFile is a file that is being written. It is used by one goroutine.
type watchedFile struct {
	file  File
	calls *Calls
	buf   []byte // copy of the data of the current write: the caller may reuse its buffer after an error
	n     int    // bytes written by the current write
	write func() error

	copies bool // a commit copies the file to other machines
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

// CommitIf is Commit if allowed returns nil. The limit does not include the time that allowed takes.
func (f *watchedFile) CommitIf(allowed func() error) error {
	return f.finish(func() error {
		return CommitIf(f.file, func() error { return f.calls.caller.ask(allowed) })
	})
}

// finish commits the file, unless a write hangs. Abort then removes it later.
func (f *watchedFile) finish(commit func() error) error {
	if f.calls.left != nil {
		return f.calls.left
	}
	if f.copies {
		f.calls.within = 0
	}
	return f.calls.Last("write", commit)
}

// Abort removes the temporary file. If the file system hangs, it does so later, or never.
func (f *watchedFile) Abort() error {
	f.calls.within = min(f.calls.within, abortWithin)
	return f.calls.Last("remove", f.file.Abort)
}
