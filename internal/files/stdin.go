// SPDX-License-Identifier: Apache-2.0

package files

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/launch"
)

// errCutOff is the error of stdin whose writer has ended before it had written all of the data.
var errCutOff = errors.New("the program that writes the data has ended before it had written all of it")

// openStdin returns a function that opens stdin, only once. Messages use name for it.
func (f *Set) openStdin(name string) func(context.Context) (io.ReadCloser, error) {
	opened := false
	return func(ctx context.Context) (io.ReadCloser, error) {
		if opened {
			return nil, cli.Usagef("stdin can be read only once: more passes need --cache_file FILE")
		}
		opened = true
		in, err := hdfsio.Interruptible(ctx, f.p.Stdin)
		if err != nil {
			return nil, err
		}
		if value := f.p.Getenv(launch.EnvStdinEnd); value != "" {
			if in, err = confirmed(ctx, in, value); err != nil {
				return nil, err
			}
		}
		return hdfsio.Decompress(name, in)
	}
}

// confirmed returns a reader of in whose end is an error unless its writer has confirmed that it has written all data:
// by a byte in the pipe whose descriptor is value. If the writer is killed, the system closes both.
func confirmed(ctx context.Context, in io.ReadCloser, value string) (io.ReadCloser, error) {
	fd, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return nil, errors.Join(cli.Usagef("%s=%s is no file descriptor: unset this variable", launch.EnvStdinEnd, value), in.Close())
	}
	pipe := os.NewFile(uintptr(fd), "end of stdin")
	end, err := hdfsio.Interruptible(ctx, pipe)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return &confirmedReader{in: in, end: end, pipe: pipe}, nil
}

// confirmedReader is the reader of confirmed.
type confirmedReader struct {
	in, end io.ReadCloser
	pipe    *os.File // that end reads
	done    bool     // the end is confirmed
}

func (r *confirmedReader) Read(b []byte) (int, error) {
	n, err := r.in.Read(b)
	if !errors.Is(err, io.EOF) || r.done {
		return n, err
	}
	var mark [1]byte
	switch k, endErr := r.end.Read(mark[:]); {
	case k == 1:
		r.done = true
		return n, err
	case errors.Is(endErr, io.EOF):
		return n, errCutOff
	default:
		return n, endErr
	}
}

func (r *confirmedReader) Close() error {
	return errors.Join(r.in.Close(), r.end.Close(), r.pipe.Close())
}
