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

// Watched is a file system whose calls that change something are watched: the log names one
// that takes long, and one that does not return in time fails. A call to a file system that
// hangs cannot be ended. So each runs on a goroutine of its own, which outlives a call that
// has failed in this way, until the file system returns from it.
//
// Open and what is read are as they are: a pipe may have nothing to read for hours. What is
// no regular file is written to without a limit, for the same reason.
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
// ErrHung, f still runs; dropped is called when f has returned after that. nil: nothing is.
func (w *Watched) do(op, name string, within time.Duration, f func() error, dropped func()) error {
	done, hung := make(chan error), make(chan struct{})
	go func() {
		err := f()
		select {
		case done <- err:
		case <-hung:
			if err == nil && dropped != nil {
				dropped()
			}
		}
	}()
	ticker := time.NewTicker(sayHung)
	defer ticker.Stop()
	var late <-chan time.Time
	if within > 0 {
		timer := time.NewTimer(within)
		defer timer.Stop()
		late = timer.C
	}
	for began := time.Now(); ; {
		select {
		case err := <-done:
			return err
		case <-late:
			close(hung)
			return newError(op, name, fmt.Errorf("%w (after %v)", ErrHung, within), "look at the disk or server that has it")
		case <-ticker.C:
			if w.Log != nil {
				w.Log.Warn("waiting for the file system", "to", op, "file", name, "since", time.Since(began).Round(time.Second))
			}
		}
	}
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
	return &watchedFile{w: w, name: name, within: within, File: made}, nil
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

// Caps is what the file system below is good at.
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
	err := w.do(op, name, within, func() (err error) {
		got, err = f()
		return err
	}, func() {
		if dropped != nil {
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
	File
	w      *Watched
	name   string
	within time.Duration
	buf    []byte // of the write under way: the caller's may be used again after an error
	hung   error  // nothing is called any more
}

// call does something with the file. After a hang the file is removed when its call returns.
func (f *watchedFile) call(op string, within time.Duration, do func() error) error {
	if f.hung != nil {
		return f.hung
	}
	err := f.w.do(op, f.name, within, do, func() { _ = f.File.Abort() })
	if errors.Is(err, ErrHung) {
		f.hung = err
	}
	return err
}

func (f *watchedFile) Write(b []byte) (int, error) {
	f.buf = append(f.buf[:0], b...)
	part, n := f.buf, new(int)
	err := f.call("write", f.within, func() (err error) {
		*n, err = f.File.Write(part)
		return err
	})
	if f.hung != nil {
		f.buf = nil // it is still in use, as n is
		return 0, err
	}
	return *n, err
}

func (f *watchedFile) Commit() error    { return f.call("write", f.within, f.File.Commit) }
func (f *watchedFile) CommitNew() error { return f.call("write", f.within, f.File.CommitNew) }

// Abort removes what was written. A file system that hangs does so later, or never.
func (f *watchedFile) Abort() error {
	if f.hung != nil {
		return nil
	}
	return f.call("remove", min(f.within, abortWithin), f.File.Abort)
}
