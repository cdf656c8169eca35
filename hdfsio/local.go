// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// Local is the machine's own file system.
type Local struct {
	// Perm is the mode of the files that Create makes; 0: 0o600.
	Perm fs.FileMode
}

var _ FS = Local{}

// Open reads a file from offset on. A pipe can be opened only at offset 0. The end of ctx ends
// blocked reads.
func (Local) Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	f, err := openFile(name)
	if err != nil {
		return nil, newError("open", name, err, "")
	}
	// Opening a directory succeeds; reading it would fail later with a worse error.
	if fi, err := f.Stat(); err == nil && fi.IsDir() {
		_ = f.Close() // opened for reading: nothing can be lost
		return nil, newError("open", name, &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}, "")
	}
	if offset != 0 {
		if _, err := f.Seek(offset, io.SeekStart); err != nil {
			_ = f.Close()
			return nil, newError("seek in", name, err, "")
		}
	}
	r, err := Interruptible(ctx, f)
	if err != nil {
		_ = f.Close() // opened for reading: nothing can be lost
		return nil, err
	}
	return &localReader{f: f, r: r, name: name}, nil
}

// localReader is a file whose errors have advice.
type localReader struct {
	f    *os.File
	r    io.ReadCloser // reads f, and leaves it open
	name string
}

func (r *localReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && err != io.EOF {
		err = newError("read", r.name, err, "")
	}
	return n, err
}

func (r *localReader) Close() error { return errors.Join(r.r.Close(), r.f.Close()) }

// Stat describes a file or directory.
func (Local) Stat(_ context.Context, name string) (Info, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return Info{}, newError("open", name, err, "")
	}
	return info(name, fi), nil
}

func info(name string, fi fs.FileInfo) Info {
	return Info{Name: name, Size: fi.Size(), Modified: fi.ModTime(), Mode: fi.Mode()}
}

// List returns the files that match a pattern, sorted by name.
func (l Local) List(ctx context.Context, pattern string) ([]Info, error) {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return nil, newError("list", pattern, err, "check the brackets")
	}
	infos := make([]Info, 0, len(names))
	for _, name := range names {
		if hides(pattern, name) {
			continue
		}
		in, err := l.Stat(ctx, name)
		if err != nil {
			return nil, err
		}
		infos = append(infos, in)
	}
	return infos, nil
}

// hides reports whether a pattern of as many elements as name excludes it because of a leading
// dot: temporary files, and files that people hide.
func hides(pattern, name string) bool {
	p, n := strings.Split(filepath.ToSlash(pattern), "/"), strings.Split(filepath.ToSlash(name), "/")
	for i := 1; i <= min(len(p), len(n)); i++ {
		if HiddenFrom(p[len(p)-i], n[len(n)-i]) {
			return true
		}
	}
	return false
}

// HiddenFrom reports whether an element of a pattern excludes a name because it
// begins with a dot.
func HiddenFrom(pattern, name string) bool {
	return strings.HasPrefix(name, ".") && isPattern(pattern) && !strings.HasPrefix(pattern, ".")
}

// Remove removes a file or an empty directory.
func (Local) Remove(_ context.Context, name string) error {
	if err := os.Remove(name); err != nil {
		return newError("remove", name, err, "")
	}
	return nil
}

// Mkdir makes a directory and its missing parents.
func (Local) Mkdir(_ context.Context, name string) error {
	if err := os.MkdirAll(name, 0o777); err != nil {
		return newError("make directory", name, err, "")
	}
	return nil
}

// syncDir makes a rename in a directory durable. Windows cannot open directories, and
// does not need this.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}
