// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/gvw-project/gvw/hdfsio"
)

// Create starts a file that replaces name when it is committed, and finds out at
// once whether that could be.
func (f *FS) Create(name string) (hdfsio.File, error) {
	p, err := f.path("create", name)
	if err != nil {
		return nil, err
	}
	if p == "/" || strings.HasSuffix(name, "/") {
		return nil, f.error("create", name, fmt.Errorf("it is the name of a folder: %w", fs.ErrInvalid))
	}
	if err := f.persist("create", name, func() error { return f.probe(p) }); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = &hdfsio.Error{Op: "create", Name: name, By: f.b.String(), Err: fs.ErrNotExist, Advice: "create its folder first: hdfs dfs -mkdir -p " + path.Dir(p)}
		}
		return nil, err
	}
	spool, err := os.CreateTemp(f.cfg.Spool, "gvw-*")
	if err != nil {
		return nil, &hdfsio.Error{Op: "create", Name: name, Err: err, Advice: "what goes to another file system is kept on this machine first: TMPDIR must be a folder with space for it"}
	}
	// Without a name it goes when the process does, where the system allows that.
	_ = os.Remove(spool.Name())
	return &file{fs: f, name: name, path: p, spool: spool}, nil
}

// probe makes sure that a file can be made beside path. That its folder is there has
// to be asked: some clients would make it.
func (f *FS) probe(p string) error {
	if _, err := f.b.Stat(path.Dir(p)); err != nil {
		return err
	}
	if info, err := f.b.Stat(p); err == nil && info.Mode.IsDir() {
		return fmt.Errorf("it is a folder: %w", fs.ErrInvalid)
	}
	aside := f.aside(p)
	err := f.b.Put(aside, strings.NewReader(""), f.cfg.Perm)
	if r, ok := errors.AsType[*Refusal](err); ok && r.name() == safeMode {
		return settled{err} // nothing is lost yet, and a person may have meant it
	}
	if err != nil {
		return err
	}
	return f.leave(aside)
}

// file is a file under way, on this machine.
type file struct {
	fs    *FS
	name  string
	path  string
	spool *os.File
	size  int64
	err   error // the first failed write: such a file is never committed
	ended bool
}

func (w *file) Write(b []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.spool.Write(b)
	w.size += int64(n)
	if err != nil {
		w.err = &hdfsio.Error{Op: "write", Name: w.name, Err: err, Advice: "it is kept on this machine until it is whole: free some space, or set TMPDIR to a folder that has some"}
		err = w.err
	}
	return n, err
}

// Commit puts the file in its place.
func (w *file) Commit() error { return w.commit(true) }

// CommitNew puts the file in its place unless something is there.
func (w *file) CommitNew() error { return w.commit(false) }

func (w *file) commit(replace bool) error {
	if w.ended {
		return nil
	}
	if w.err != nil {
		return errors.Join(w.err, w.Abort())
	}
	aside, err := w.put()
	if err == nil {
		err = w.rename(aside, replace)
	}
	return errors.Join(err, w.Abort())
}

// put writes the whole beside its place, under a fresh name at every try: a client
// that died at one may still hold it.
func (w *file) put() (aside string, err error) {
	err = w.fs.persist("write", w.name, func() error {
		aside = w.fs.aside(w.path)
		err := w.putOnce(aside)
		if err != nil {
			_ = w.fs.leave(aside) // what cannot be removed has no name that anybody looks at
		}
		return err
	})
	return aside, err
}

func (w *file) putOnce(aside string) error {
	if _, err := w.spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := w.fs.b.Put(aside, io.LimitReader(w.spool, w.size), w.fs.cfg.Perm); err != nil {
		return err
	}
	info, err := w.fs.b.Stat(aside)
	if err == nil && info.Size != w.size {
		err = fmt.Errorf("%w: %d bytes of %d have arrived", io.ErrUnexpectedEOF, info.Size, w.size)
	}
	return err
}

func (w *file) rename(aside string, replace bool) error {
	tries := 0
	err := w.fs.persist("write", w.name, func() error {
		tries++
		err := w.fs.b.Rename(aside, w.path, replace)
		if err == nil || tries == 1 {
			return err
		}
		// The answer to an earlier try may have been lost: then all is done.
		if _, serr := w.fs.b.Stat(aside); errors.Is(serr, fs.ErrNotExist) {
			if info, serr := w.fs.b.Stat(w.path); serr == nil && info.Size == w.size {
				return nil
			}
		}
		return err
	})
	if err != nil {
		_ = w.fs.leave(aside) // it begins with a dot, and nobody looks at it
		return err
	}
	w.fs.mu.Lock()
	defer w.fs.mu.Unlock()
	delete(w.fs.asides, aside)
	return nil
}

// Abort forgets what was written.
func (w *file) Abort() error {
	if w.ended {
		return nil
	}
	w.ended = true
	err := w.spool.Close()
	if rerr := os.Remove(w.spool.Name()); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	if err != nil {
		return &hdfsio.Error{Op: "remove what was written of", Name: w.name, Err: err}
	}
	return nil
}
