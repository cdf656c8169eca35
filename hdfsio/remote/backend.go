// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"io"
	"io/fs"

	"github.com/gvw-project/gvw/hdfsio"
)

// Backend is a client for a file system. Paths are absolute and clean; Info.Name is
// the last element. Every call has a limit of its own. An error for which a retry may
// succeed is recognised by [Transient]. A Backend is safe for concurrent use.
type Backend interface {
	// Open reads a file from offset on, which may be its end.
	Open(path string, offset int64) (io.ReadCloser, error)
	// Put makes or replaces a file with the contents of r, all of which are available; its
	// directory must exist.
	Put(path string, r io.Reader, perm fs.FileMode) error
	// Rename renames a file within the file system. An existing file with the new
	// name is replaced or, without replace, the error is fs.ErrExist.
	Rename(from, to string, replace bool) error
	// Stat describes a file or directory.
	Stat(path string) (hdfsio.Info, error)
	// ReadDir describes the files in a directory.
	ReadDir(path string) ([]hdfsio.Info, error)
	// Remove removes a file or an empty directory.
	Remove(path string) error
	// Mkdir makes a directory and its missing parents.
	Mkdir(path string) error
	// Seeks reports whether opening at an offset costs no more than at the beginning.
	Seeks() bool
	// String returns the client's name for messages.
	String() string
}

// Locator is a Backend that can report the locations of blocks.
type Locator interface {
	Blocks(path string, size int64) ([]hdfsio.Block, error)
}
