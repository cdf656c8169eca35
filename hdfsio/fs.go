// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// FS is a file system, local or distributed. Names are the file system's own.
type FS interface {
	// Open reads a file from offset on; from its end on there is nothing to read.
	// The end of ctx ends reads that wait.
	Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error)
	// Create starts a file that replaces name when it is committed.
	Create(ctx context.Context, name string) (File, error)
	// Stat describes a file or folder.
	Stat(ctx context.Context, name string) (Info, error)
	// List returns what matches a pattern of path.Match, sorted by name; a
	// pattern without matches is no error. What begins with a dot matches only
	// what says so, as in a shell.
	List(ctx context.Context, pattern string) ([]Info, error)
	// Remove removes a file or an empty folder.
	Remove(ctx context.Context, name string) error
	// Mkdir makes a folder and its missing parents; one that exists is fine.
	Mkdir(ctx context.Context, name string) error
}

// File is a file under way. It appears under its name, whole and durable, at
// Commit; Abort removes what was written. CommitNew is Commit for a name that must
// not be there yet: if it is, the error is fs.ErrExist, and what was there stays.
// The first of the three counts, a later call does nothing.
type File interface {
	io.Writer
	Commit() error
	CommitNew() error
	Abort() error
}

// Info describes a file.
type Info struct {
	Name     string
	Size     int64 // bytes as stored; meaningless unless Mode.IsRegular
	Modified time.Time
	Mode     fs.FileMode
}

// Caps is what a file system is good at.
type Caps struct {
	// Seek: to open a file at an offset costs no more than at its beginning.
	Seek bool
	// Near: files are on this machine, so that reading one twice costs little.
	Near bool
}

// Capable is an FS that says what it is good at. It may depend on the name.
type Capable interface {
	Caps(name string) (Caps, error)
}

// CapsOf returns what a file system is good at; one that does not say is taken for local.
func CapsOf(fsys FS, name string) (Caps, error) {
	if c, ok := fsys.(Capable); ok {
		return c.Caps(name)
	}
	return Caps{Seek: true, Near: true}, nil
}

// Block is a piece of a file and the hosts that have a copy of it.
type Block struct {
	Offset, Length int64
	Hosts          []string
}

// Locator is an FS that knows where files are. An error that is
// errors.ErrUnsupported says that this way to it cannot tell.
type Locator interface {
	Blocks(ctx context.Context, name string) ([]Block, error)
}

// errNoBlocks is the answer of a file system that does not know where files are.
var errNoBlocks = fmt.Errorf("where its blocks are is not known: %w", errors.ErrUnsupported)

// Expand replaces every name that is a pattern (and no file of that very name)
// by the files that match it, in order of name.
func Expand(ctx context.Context, fsys FS, names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		if !isPattern(name) {
			all = append(all, name)
			continue
		}
		if _, err := fsys.Stat(ctx, name); err == nil {
			all = append(all, name)
			continue
		}
		infos, err := fsys.List(ctx, name)
		if err != nil {
			return nil, err
		}
		found := len(all)
		for _, info := range infos {
			if !info.Mode.IsDir() {
				all = append(all, info.Name)
			}
		}
		if len(all) == found {
			return nil, newError("open", name, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}, "no file matches this pattern")
		}
	}
	return all, nil
}

func isPattern(name string) bool {
	for i := range len(name) {
		switch name[i] {
		case '*', '?', '[':
			return true
		}
	}
	return false
}
