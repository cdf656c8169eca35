// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"io"
	"io/fs"
	"time"
)

// FS is a file system, local or distributed. Names are the file system's own.
type FS interface {
	// Open reads a file from offset on.
	Open(name string, offset int64) (io.ReadCloser, error)
	// Create starts a file that replaces name when it is committed.
	Create(name string) (File, error)
	// Stat describes a file or folder.
	Stat(name string) (Info, error)
	// List returns what matches a pattern of path.Match, sorted by name; a
	// pattern without matches is no error.
	List(pattern string) ([]Info, error)
	// Remove removes a file or an empty folder.
	Remove(name string) error
	// Mkdir makes a folder and its missing parents; one that exists is fine.
	Mkdir(name string) error
}

// File is a file under way. It appears under its name, whole and durable, at
// Commit; Abort removes what was written. The first of the two counts, a later
// call does nothing.
type File interface {
	io.Writer
	Commit() error
	Abort() error
}

// Info describes a file.
type Info struct {
	Name     string
	Size     int64 // bytes as stored; meaningless unless Mode.IsRegular
	Modified time.Time
	Mode     fs.FileMode
}

// Expand replaces every name that is a pattern (and no file of that very name)
// by the files that match it, in order of name.
func Expand(fsys FS, names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		if !isPattern(name) {
			all = append(all, name)
			continue
		}
		if _, err := fsys.Stat(name); err == nil {
			all = append(all, name)
			continue
		}
		infos, err := fsys.List(name)
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
