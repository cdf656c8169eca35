// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"io"
	"io/fs"

	"github.com/gvw-project/gvw/hdfsio"
)

// Backend is a client for a file system. Paths are absolute and clean, Info.Name is
// the last element. Every call ends by itself; what may be better at another try is
// an error that [Transient] knows. It is used by several goroutines.
type Backend interface {
	// Open reads a file from offset on, which may be its end.
	Open(path string, offset int64) (io.ReadCloser, error)
	// Put makes a file of what r has, which is all at hand, in the place of one that
	// is there; its folder must be there.
	Put(path string, r io.Reader, perm fs.FileMode) error
	// Rename gives a file another name within the file system. If something has that
	// name already, it is replaced or, without replace, the error is fs.ErrExist.
	Rename(from, to string, replace bool) error
	// Stat describes a file or folder.
	Stat(path string) (hdfsio.Info, error)
	// ReadDir describes what is in a folder.
	ReadDir(path string) ([]hdfsio.Info, error)
	// Remove removes a file or an empty folder.
	Remove(path string) error
	// Mkdir makes a folder and its missing parents.
	Mkdir(path string) error
	// Seeks says whether to open at an offset costs no more than at the beginning.
	Seeks() bool
	// String names the back end for messages.
	String() string
}

// Locator is a Backend that knows where files are.
type Locator interface {
	Blocks(path string, size int64) ([]hdfsio.Block, error)
}
