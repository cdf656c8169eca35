// SPDX-License-Identifier: Apache-2.0

package show

import (
	"context"
	"errors"
	"io"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/learn"
)

// readFile calls read with the contents of a file, which may be compressed. An error of read is one of the data.
func readFile(ctx context.Context, fsys hdfsio.FS, name string, read func(in io.Reader) error) (err error) {
	f, err := hdfsio.Open(ctx, fsys, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := read(f); err != nil {
		return &learn.DataError{Name: name, Text: err.Error()}
	}
	return nil
}

// write writes a file, which gets its name when it is complete.
func write(ctx context.Context, set *files.Set, fsys hdfsio.FS, name string, contents []byte) error {
	out, err := set.Creator(ctx, fsys, 0)(name)
	if err != nil {
		return err
	}
	if _, err := out.Write(contents); err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}
