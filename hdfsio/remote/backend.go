// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"errors"
	"fmt"
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

// Versioned is a Backend that opens the contents which an Info describes. If the file has others
// by now, the error is ErrChanged.
type Versioned interface {
	OpenVersion(path string, offset int64, info hdfsio.Info) (io.ReadCloser, error)
}

// ErrChanged reports a file that was replaced while it was read.
var ErrChanged = errors.New("it was replaced while it was read; run again")

// Adviser is a Backend with remedies of its own for errors. Advice returns "" for an error
// without a remedy.
type Adviser interface{ Advice(err error) string }

// ReadOnly is embedded in a Backend that only reads.
type ReadOnly struct{}

var errReadOnly = fmt.Errorf("files there can only be read: %w", errors.ErrUnsupported)

// Put returns an error.
func (ReadOnly) Put(string, io.Reader, fs.FileMode) error { return errReadOnly }

// Rename returns an error.
func (ReadOnly) Rename(string, string, bool) error { return errReadOnly }

// Remove returns an error.
func (ReadOnly) Remove(string) error { return errReadOnly }

// Mkdir returns an error.
func (ReadOnly) Mkdir(string) error { return errReadOnly }
