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
	// Open reads a file from offset on. At or after its end, reads return io.EOF.
	// The end of ctx ends blocked reads.
	Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error)
	// Create starts a file that replaces name when it is committed.
	Create(ctx context.Context, name string) (File, error)
	// Stat describes a file or directory.
	Stat(ctx context.Context, name string) (Info, error)
	// List returns the files that match a pattern of path.Match, sorted by name. A
	// pattern without matches is not an error. As in a shell, names that begin with a dot
	// match only patterns that begin with one.
	List(ctx context.Context, pattern string) ([]Info, error)
	// Remove removes a file or an empty directory.
	Remove(ctx context.Context, name string) error
	// Mkdir makes a directory and its missing parents. It may exist already.
	Mkdir(ctx context.Context, name string) error
}

// File is a file that is being written. Commit gives it its name, complete and durable.
// Abort removes it. CommitNew is Commit for a name that must not exist: if it does, the
// error is fs.ErrExist, and the existing file stays. Only the first of these calls has an
// effect; later ones do nothing.
type File interface {
	io.Writer
	Commit() error
	CommitNew() error
	Abort() error
}

// Conditional is a File with a commit that depends on a condition.
type Conditional interface {
	// CommitIf is Commit if allowed returns nil. Otherwise it aborts the file, and returns the error of allowed. It calls
	// allowed when only the rename to the final name is left, and again before each further attempt of the rename.
	CommitIf(allowed func() error) error
}

// CommitIf commits a file if allowed returns nil. Otherwise it aborts the file, and returns the error of allowed. If the
// file is not Conditional, it calls allowed before the commit.
func CommitIf(f File, allowed func() error) error {
	if c, ok := f.(Conditional); ok {
		return c.CommitIf(allowed)
	}
	if err := allowed(); err != nil {
		return errors.Join(err, f.Abort())
	}
	return f.Commit()
}

// Info describes a file.
type Info struct {
	Name     string
	Size     int64 // bytes as stored; meaningless unless Mode.IsRegular
	Modified time.Time
	Mode     fs.FileMode
	// Tag changes with the contents, on servers that have such a value (an ETag); empty: unknown.
	Tag string
}

// Caps are the capabilities of a file system.
type Caps struct {
	// Seek: opening a file at an offset costs no more than at its beginning.
	Seek bool
	// Near: files are on this machine, so that reading one twice is cheap.
	Near bool
}

// Capable is an FS that reports its capabilities, which may depend on the name.
type Capable interface {
	Caps(name string) (Caps, error)
}

// CapsOf returns the capabilities of a file system. One that is not Capable counts as local.
func CapsOf(fsys FS, name string) (Caps, error) {
	if c, ok := fsys.(Capable); ok {
		return c.Caps(name)
	}
	return Caps{Seek: true, Near: true}, nil
}

// Block is a part of a file and the hosts that have a replica of it.
type Block struct {
	Offset, Length int64
	Hosts          []string
}

// Locator is an FS that can report the locations of blocks. An error that is
// errors.ErrUnsupported means that this client cannot.
type Locator interface {
	Blocks(ctx context.Context, name string) ([]Block, error)
}

// errNoBlocks is the error of a file system without locations of blocks.
var errNoBlocks = fmt.Errorf("the locations of its blocks are unknown: %w", errors.ErrUnsupported)

// Expand replaces each name that is a pattern (and not the name of an existing file)
// by the files that match it, sorted by name.
func Expand(ctx context.Context, fsys FS, names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		if !isPattern(name) {
			all = append(all, name)
			continue
		}
		_, serr := fsys.Stat(ctx, name)
		if serr == nil {
			all = append(all, name)
			continue
		}
		infos, err := fsys.List(ctx, name)
		if errors.Is(err, errors.ErrUnsupported) {
			return nil, serr // it is no pattern there
		}
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
