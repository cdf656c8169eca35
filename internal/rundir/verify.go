// SPDX-License-Identifier: Apache-2.0

package rundir

import (
	"hash"
	"io"

	"github.com/gvw-project/gvw/hdfsio"
)

// verified reads a file whose digest is known.
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
		err = &hdfsio.DataError{Name: v.name, Text: "its bytes do not have the SHA-256 in its name: it is damaged: remove it; without it the run has to be done again, under another --run_id"}
	}
	return n, err
}

func (v *verified) Close() error { return v.in.Close() }
