// SPDX-License-Identifier: Apache-2.0

package rundir

import (
	"hash"
	"io"

	"github.com/gvw-project/gvw/hdfsio"
)

// verified reads a file and verifies its digest at the end.
type verified struct {
	in   io.ReadCloser
	name string
	sum  [32]byte
	hash hash.Hash
}

func (v *verified) Read(b []byte) (int, error) {
	n, err := v.in.Read(b)
	v.hash.Write(b[:n])
	if err == io.EOF && [32]byte(v.hash.Sum(nil)) != v.sum {
		err = &hdfsio.DataError{Name: v.name, Text: "its SHA-256 differs from its name: the file is damaged; remove it, and repeat the run with another run ID"}
	}
	return n, err
}

func (v *verified) Close() error { return v.in.Close() }
