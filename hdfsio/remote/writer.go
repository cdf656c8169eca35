// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync/atomic"

	"github.com/gvw-project/gvw/hdfsio"
)

// Create starts a file that replaces name when it is committed. It checks at
// once that the file could be made.
func (f *FS) Create(ctx context.Context, name string) (hdfsio.File, error) {
	p, err := f.path("create", name)
	if err != nil {
		return nil, err
	}
	if p == "/" || strings.HasSuffix(name, "/") {
		return nil, f.error("create", name, fmt.Errorf("it is the name of a directory: %w", fs.ErrInvalid))
	}
	if err := f.persist(ctx, "create", name, func() error { return f.probe(p) }); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = &hdfsio.Error{Op: "create", Name: name, By: f.b.String(), Err: fs.ErrNotExist, Advice: "create its directory first: hdfs dfs -mkdir -p " + path.Dir(p)}
		}
		return nil, err
	}
	spool, err := os.CreateTemp(f.cfg.Spool, "gvw-*")
	if err != nil {
		return nil, &hdfsio.Error{Op: "create", Name: name, Err: err, Advice: "remote files are first written on this machine: set TMPDIR to a directory with enough space"}
	}
	// Unlinked at once: where the system allows that, the space is freed with the process.
	_ = os.Remove(spool.Name())
	return &file{ctx: ctx, fs: f, name: name, path: p, spool: spool}, nil
}

// probe checks that a file can be made beside path. It stats the directory, because some
// clients would create a missing one.
func (f *FS) probe(p string) error {
	if _, err := f.b.Stat(path.Dir(p)); err != nil {
		return err
	}
	if info, err := f.b.Stat(p); err == nil && info.Mode.IsDir() {
		return fmt.Errorf("it is a directory: %w", fs.ErrInvalid)
	}
	aside := f.tempName(p)
	err := f.b.Put(aside, strings.NewReader(""), f.cfg.Perm)
	if r, ok := errors.AsType[*Refusal](err); ok && r.name() == safeMode {
		return settled{err} // no work is lost yet, and it may be deliberate
	}
	if err != nil {
		return err
	}
	return f.leave(aside)
}

// compared is the number of bytes that holds compares at once.
const compared = 64 << 10

// file is a file that is being written, in a temporary file on this machine.
type file struct {
	ctx   context.Context // of Create: it ends waits before retries
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
		w.err = &hdfsio.Error{Op: "write", Name: w.name, Err: err, Advice: "it is kept on this machine until it is complete: free some space, or set TMPDIR to a directory with enough"}
		err = w.err
	}
	return n, err
}

// Commit copies the file to its final name, and replaces an existing file.
func (w *file) Commit() error { return w.commit(true, nil) }

// CommitIf is Commit if allowed returns nil, which it calls directly before each attempt to rename the file.
func (w *file) CommitIf(allowed func() error) error { return w.commit(true, allowed) }

// CommitNew copies the file to its final name, unless that exists.
func (w *file) CommitNew() error { return w.commit(false, nil) }

// commit copies the file to its final name, if allowed returns nil. allowed nil: no condition.
func (w *file) commit(replace bool, allowed func() error) error {
	if w.ended {
		return nil
	}
	if w.err != nil {
		return errors.Join(w.err, w.Abort())
	}
	aside, err := w.put()
	if err == nil {
		err = w.rename(aside, replace, allowed)
	}
	return errors.Join(err, w.Abort())
}

// put writes the file under a temporary name, a new one for each attempt: a client
// that died during an attempt may still hold the lease on its name. An attempt that copies
// more bytes than all before it is progress, which restarts Patience.
func (w *file) put() (aside string, err error) {
	var waits waiter
	var most int64 // bytes that an attempt has copied
	err = w.fs.retry(w.ctx, "write", w.name, &waits, func() error {
		aside = w.fs.tempName(w.path)
		copied, err := w.putOnce(aside)
		if err != nil {
			_ = w.fs.leave(aside) // a remaining file has a hidden name
		}
		if copied > most {
			most = copied
			waits.done()
		}
		return err
	})
	return aside, err
}

// putOnce also returns the number of bytes that the back end has read.
func (w *file) putOnce(aside string) (copied int64, err error) {
	from := &counter{r: io.NewSectionReader(w.spool, 0, w.size)}
	if err := w.fs.b.Put(aside, from, w.fs.cfg.Perm); err != nil {
		return from.n.Load(), err
	}
	info, err := w.fs.b.Stat(aside)
	if err == nil && info.Size != w.size {
		err = fmt.Errorf("%w: %d bytes of %d have arrived", io.ErrUnexpectedEOF, info.Size, w.size)
	}
	return from.n.Load(), err
}

// counter counts the bytes that are read from r. A back end may read on another goroutine, also
// after its call has failed.
type counter struct {
	r io.Reader
	n atomic.Int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}

func (w *file) rename(aside string, replace bool, allowed func() error) error {
	var denied error // of allowed
	tries := 0
	err := w.fs.persist(w.ctx, "write", w.name, func() error {
		if allowed != nil {
			if denied = allowed(); denied != nil {
				return settled{denied}
			}
		}
		tries++
		err := w.fs.b.Rename(aside, w.path, replace)
		if err == nil || tries == 1 && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		// The response to an earlier attempt may have been lost, or that to the first server that the
		// back end asked in this attempt. Only this file's rename makes its temporary name vanish,
		// unless another process removes it. In that case another file may have the final name, so
		// the contents decide.
		done, cerr := w.renamed(aside)
		switch {
		case done:
			return nil
		case cerr != nil && Transient(cerr):
			return cerr // err may be permanent although the file is in place
		}
		return err
	})
	if err != nil {
		_ = w.fs.leave(aside) // a remaining file has a hidden name
		return cmp.Or(denied, err)
	}
	w.fs.mu.Lock()
	defer w.fs.mu.Unlock()
	delete(w.fs.temps, aside)
	return nil
}

// renamed reports whether the temporary file has got its final name.
func (w *file) renamed(aside string) (bool, error) {
	if _, err := w.fs.b.Stat(aside); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return w.holds(w.path)
}

// holds reports whether a file has the bytes that were written.
func (w *file) holds(p string) (bool, error) {
	info, err := w.fs.b.Stat(p)
	if err != nil || !info.Mode.IsRegular() || info.Size != w.size {
		return false, err
	}
	r, err := w.fs.b.Open(p, 0)
	if err != nil {
		return false, err
	}
	defer r.Close()
	there, here := make([]byte, compared), make([]byte, compared)
	for at := int64(0); at < w.size; {
		n := int(min(compared, w.size-at))
		if _, err := io.ReadFull(r, there[:n]); err != nil {
			return false, err
		}
		if _, err := w.spool.ReadAt(here[:n], at); err != nil || !bytes.Equal(there[:n], here[:n]) {
			return false, err
		}
		at += int64(n)
	}
	return true, nil
}

// Abort discards the written data.
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
