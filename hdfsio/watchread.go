// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"context"
	"errors"
	"io"
)

// Open reads a file from offset on. If a read fails other than by the end of the file, its buffer
// must not be reused: the file system may still write to it. Closing the reader ends a blocked
// read, as the end of ctx does.
func (w *Watched) Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	if silent, err := w.maySayNothing(ctx, name); err != nil {
		return nil, err
	} else if silent || w.Within == 0 && w.Log == nil {
		return w.FS.Open(ctx, name, offset)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r := &watchedReader{calls: w.Calls(ctx, name), cancel: cancel}
	if err := r.calls.Do("open", func() (err error) {
		r.file, err = w.FS.Open(ctx, name, offset)
		return err
	}); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.read = func() (err error) {
		r.n, err = r.file.Read(r.b)
		return err
	}
	return r, nil
}

// maySayNothing reports whether reads of a file may wait for another program: it is a pipe, a
// device or a socket, which only this machine has.
func (w *Watched) maySayNothing(ctx context.Context, name string) (bool, error) {
	if caps, err := w.Caps(name); err != nil || !caps.Near {
		return false, nil // Open reports the error
	}
	info, err := w.Stat(ctx, name)
	if errors.Is(err, ErrHung) {
		return false, err
	}
	return err == nil && !info.Mode.IsRegular(), nil
}

// watchedReader reads a file with limits on its calls.
type watchedReader struct {
	calls  *Calls
	cancel context.CancelCauseFunc // ends a blocked read

	file io.ReadCloser // nil: opening it has failed
	read func() error  // reads n bytes into b
	b    []byte
	n    int
	left error // why a read was abandoned, which still uses b and n
}

func (r *watchedReader) Read(b []byte) (int, error) {
	if r.left != nil {
		return 0, r.left
	}
	r.b = b
	returned, err := r.calls.call("read", r.read)
	if !returned {
		r.left = err
		return 0, err
	}
	r.b = nil
	return r.n, err
}

// Close ends a concurrent Read.
func (r *watchedReader) Close() error {
	r.cancel(errReaderClosed)
	return r.calls.Last("close", func() error {
		if r.file == nil {
			return nil
		}
		return r.file.Close()
	})
}

// errReaderClosed is the cause of the end of a read that Close has ended.
var errReaderClosed = errors.New("the reader was closed")
