// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gvw-project/gvw/hdfsio"
)

// reader reads a file up to its size at Open, over connections that may break.
type reader struct {
	ctx  context.Context // of Open: it ends waits before retries
	fs   *FS
	name string
	path string
	pos  int64
	info hdfsio.Info // of Open

	r      io.ReadCloser // nil: not open at pos
	waits  waiter
	failed error
	closed bool
}

func (r *reader) Read(b []byte) (int, error) {
	switch {
	case r.closed:
		panic("BUG: remote: Read after Close")
	case r.failed != nil:
		return 0, r.failed
	case len(b) == 0:
		return 0, nil
	}
	for r.pos < r.info.Size {
		n, err := r.try(b[:min(int64(len(b)), r.info.Size-r.pos)])
		if n > 0 {
			r.pos += int64(n)
			r.waits.done()
			return n, nil // a permanent error will occur again
		}
		if err == nil {
			continue
		}
		if err := r.waits.wait(r.ctx, r.fs, "read", r.name, err); err != nil {
			r.failed = err
			return 0, err
		}
	}
	return 0, io.EOF
}

// try reads once, over a new connection if there is none.
func (r *reader) try(b []byte) (int, error) {
	if r.r == nil {
		if err := r.reopen(); err != nil {
			return 0, err
		}
	}
	n, err := r.r.Read(b)
	if err == nil {
		return n, nil
	}
	r.drop()
	if err == io.EOF && r.pos+int64(n) < r.info.Size {
		err = fmt.Errorf("%w: it ended at byte %d of %d", io.ErrUnexpectedEOF, r.pos+int64(n), r.info.Size)
	}
	return n, err
}

// drop closes a connection after an error; further errors are ignored.
func (r *reader) drop() {
	_ = r.r.Close()
	r.r = nil
}

// reopen reopens the file where the connection broke, if it is unchanged.
func (r *reader) reopen() error {
	info, err := r.fs.b.Stat(r.path)
	if err != nil {
		return err
	}
	if info.Size != r.info.Size || !info.Modified.Equal(r.info.Modified) || info.Tag != r.info.Tag {
		return &changedError{fmt.Sprintf("it was %d bytes of %s, and is now %d of %s: it was replaced while it was read; run again",
			r.info.Size, r.info.Modified.UTC().Format(time.RFC3339), info.Size, info.Modified.UTC().Format(time.RFC3339))}
	}
	r.r, err = r.fs.open(r.path, r.pos, r.info)
	return err
}

// changedError reports a file that has changed since Open.
type changedError struct{ text string }

func (e *changedError) Error() string { return e.text }

// Close closes the connection. It ignores errors, because all requested bytes have been
// read.
func (r *reader) Close() error {
	r.closed = true
	if r.r != nil {
		_ = r.r.Close()
		r.r = nil
	}
	return nil
}
