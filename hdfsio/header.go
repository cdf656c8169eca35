// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// Header returns the first line of the part's file, with its newline, for formats whose
// files begin with a header. own means that the part itself begins with
// it, so that the caller gets it by reading the part; line is then empty. A line
// longer than limit bytes is an error.
func (p Part) Header(limit int) (line []byte, own bool, err error) {
	if p.header == nil {
		return nil, true, nil
	}
	return p.header(limit)
}

// firstLine reads the first line of a file, including its newline.
func firstLine(ctx context.Context, fsys FS, name string, limit int) (line []byte, err error) {
	r, err := Open(ctx, fsys, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for b := bufio.NewReader(r); ; {
		piece, err := b.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > limit+1:
			return nil, &DataError{Name: name, Text: fmt.Sprintf("line 1 has at least %d bytes: want at most %d; if this is text, raise the limit (stream.Config.MaxLine)", len(line), limit)}
		case err == nil || err == io.EOF:
			return line, nil
		case err != bufio.ErrBufferFull:
			return nil, err
		}
	}
}
