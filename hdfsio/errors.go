// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Error says what the file system refused, why, and what to do about it. It
// unwraps to the file system's own error.
type Error struct {
	Op     string // open, read, create, write, list, remove, …
	Name   string
	By     string // which way to the file system, where there are several; may be empty
	Err    error
	Advice string // may be empty
}

func (e *Error) Error() string {
	cause := e.Err
	// The name is in the message already.
	if pe, ok := errors.AsType[*fs.PathError](cause); ok {
		cause = pe.Err
	}
	by := ""
	if e.By != "" {
		by = " (" + e.By + ")"
	}
	s := fmt.Sprintf("cannot %s %s%s: %v", e.Op, e.Name, by, cause)
	if e.Advice != "" {
		s += ": " + e.Advice
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

func newError(op, name string, err error, advice string) error {
	if advice == "" {
		advice = adviceFor(err)
	}
	return &Error{Op: op, Name: name, Err: err, Advice: advice}
}

func adviceFor(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "check the name and the current folder"
	case errors.Is(err, fs.ErrExist):
		return "remove it first, or choose another name"
	case errors.Is(err, fs.ErrPermission):
		return "check the permissions of the file and its folders"
	case errors.Is(err, syscall.ENOSPC):
		return "free some space, or write elsewhere"
	case errors.Is(err, syscall.EISDIR):
		return "give a file, or a pattern like " + `'DIR/*'`
	}
	return ""
}

// DataError says that a file does not hold what it should: compressed data that
// is damaged, cut short, or not what the name promises.
type DataError struct {
	Name string
	Text string // what is wrong, and what to do
	Err  error  // the decoder's error; may be nil
}

func (e *DataError) Error() string { return e.Name + ": " + e.Text }

func (e *DataError) Unwrap() error { return e.Err }
