// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gvw-project/gvw/internal/tempname"
)

// Create starts a temporary file beside name, in the same directory, so that the rename at
// Commit stays within one file system. If name is a symbolic link, its target is written, unless
// another user has made the link in a world-writable directory. A file that is not regular
// (a pipe, /dev/null) cannot be replaced and is written directly.
func (l Local) Create(_ context.Context, name string) (File, error) {
	if name == "" {
		return nil, newError("create", `""`, fs.ErrInvalid, "give a file name")
	}
	if planted(name) {
		return nil, newError("create", name, fs.ErrPermission, plantedAdvice)
	}
	target := name
	if real, err := filepath.EvalSymlinks(name); err == nil {
		target = real
	}
	if fi, err := os.Stat(target); err == nil && !fi.Mode().IsRegular() {
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return nil, newError("write to", name, err, "")
		}
		return &localFile{f: f, name: name}, nil
	}
	dir, base := filepath.Split(target)
	for {
		temp := fmt.Sprintf("%s%08x", tempPrefix(dir, base, os.Getpid()), rand.Uint32())
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, cmp.Or(l.Perm, 0o600))
		switch {
		case err == nil:
			if err := l.chmod(f); err != nil {
				return nil, newError("create", name, errors.Join(err, f.Close(), os.Remove(temp)), "")
			}
			return &localFile{f: f, name: name, temp: temp, target: target}, nil
		case errors.Is(err, fs.ErrExist):
			continue // another writer drew the same number
		case errors.Is(err, fs.ErrNotExist):
			return nil, newError("create", name, err, "its directory does not exist: create it first")
		default:
			return nil, newError("create", name, err, "")
		}
	}
}

// CreateNow makes or truncates a file under its final name, for output that others read while
// it grows. It treats links as Create does.
func (l Local) CreateNow(name string) (*os.File, error) {
	if planted(name) {
		return nil, newError("create", name, fs.ErrPermission, plantedAdvice)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, cmp.Or(l.Perm, 0o600))
	if err != nil {
		return nil, newError("create", name, err, "")
	}
	if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
		if err := l.chmod(f); err != nil {
			return nil, newError("create", name, errors.Join(err, f.Close()), "")
		}
	}
	return f, nil
}

const plantedAdvice = "it is a link of another user in a world-writable directory: remove it, or write elsewhere"

// chmod sets the mode of a file regardless of the umask.
func (l Local) chmod(f *os.File) error {
	if l.Perm == 0 || runtime.GOOS == "windows" {
		return nil
	}
	return f.Chmod(l.Perm)
}

// tempPrefix returns the prefix of the names of temporary files. It contains this machine and the process ID
// of the writer.
func tempPrefix(dir, base string, pid int) string { return dir + "." + base + tempname.Infix(pid) }

// RemoveTemp removes the temporary files that a killed process of this machine has left of name.
func (Local) RemoveTemp(name string, pid int) error {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	dir, base := filepath.Split(name)
	begin := tempPrefix(dir, base, pid)
	return removeTemps(name, func(temp string) bool { return strings.HasPrefix(temp, begin) })
}

// RemoveTemps removes the temporary files that process pid of this machine has left of all files whose names
// begin with prefix. pid 0: of any process of any machine, also of one that is still writing, whose Commit then fails.
func (Local) RemoveTemps(prefix string, pid int) error {
	dir, base := filepath.Split(prefix)
	writing := tempname.Infix(pid)
	if pid == 0 {
		writing = tempname.Mark
	}
	return removeTemps(prefix, func(temp string) bool {
		return strings.HasPrefix(temp, dir+"."+base) && strings.Contains(temp, writing)
	})
}

func removeTemps(name string, left func(temp string) bool) error {
	dir, _ := filepath.Split(name)
	entries, err := os.ReadDir(filepath.Dir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was written there
	}
	if err != nil {
		return newError("list the directory of", name, err, "")
	}
	var errs []error
	for _, e := range entries {
		if temp := dir + e.Name(); left(temp) {
			if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, newError("remove", temp, err, ""))
			}
		}
	}
	return errors.Join(errs...)
}

// localFile is a file that is not committed yet.
type localFile struct {
	f            *os.File
	name         string
	temp, target string // temporary and final name; temp empty: written directly
	err          error  // the first failed write: such a file is never committed
	ended        bool
}

func (w *localFile) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.f.Write(p)
	if err != nil {
		w.err = newError("write", w.name, err, "")
		err = w.err
	}
	return n, err
}

// Commit renames the temporary file to its final name, and replaces an existing file.
func (w *localFile) Commit() error { return w.commit(nil, os.Rename) }

// CommitIf is Commit if allowed returns nil, which it calls directly before the rename.
func (w *localFile) CommitIf(allowed func() error) error { return w.commit(allowed, os.Rename) }

// CommitNew renames the file unless its final name exists. It uses a hard link, which does
// not replace; on file systems without links it checks the name first.
func (w *localFile) CommitNew() error {
	return w.commit(nil, func(temp, target string) error {
		switch err := os.Link(temp, target); {
		case err == nil:
			return os.Remove(temp)
		case errors.Is(err, fs.ErrExist):
			return &fs.PathError{Op: "create", Path: target, Err: fs.ErrExist}
		}
		if _, err := os.Lstat(target); err == nil {
			return &fs.PathError{Op: "create", Path: target, Err: fs.ErrExist}
		}
		return os.Rename(temp, target)
	})
}

// commit gives the file its final name by name, if allowed returns nil. allowed nil: no condition.
func (w *localFile) commit(allowed func() error, name func(temp, target string) error) error {
	if w.ended {
		return nil
	}
	if w.err != nil {
		return errors.Join(w.err, w.Abort())
	}
	if allowed == nil {
		allowed = func() error { return nil }
	}
	if w.temp == "" {
		if err := allowed(); err != nil {
			return errors.Join(err, w.Abort())
		}
		w.ended = true
		if err := w.f.Close(); err != nil {
			return newError("write", w.name, err, "")
		}
		return nil
	}
	if err := w.f.Sync(); err != nil {
		return errors.Join(newError("write", w.name, err, ""), w.Abort())
	}
	w.ended = true
	if err := w.f.Close(); err != nil {
		return errors.Join(newError("write", w.name, err, ""), os.Remove(w.temp))
	}
	if err := allowed(); err != nil {
		return errors.Join(err, os.Remove(w.temp))
	}
	if err := name(w.temp, w.target); err != nil {
		return errors.Join(newError("write", w.name, err, ""), os.Remove(w.temp))
	}
	if err := syncDir(filepath.Dir(w.target)); err != nil {
		return newError("sync the directory of", w.name, err, "")
	}
	return nil
}

func (w *localFile) Abort() error {
	if w.ended {
		return nil
	}
	w.ended = true
	err := w.f.Close()
	if w.temp != "" {
		err = errors.Join(err, os.Remove(w.temp))
	}
	if err != nil {
		return newError("remove what was written of", w.name, err, "")
	}
	return nil
}
