// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Error is a failed operation of a file system, with its reason and a remedy. It
// unwraps to the file system's own error.
type Error struct {
	Op     string // operation: open, read, create, write, list, remove, …
	Name   string
	By     string // the client that was used; empty: there is only one
	Err    error
	Advice string // a remedy; may be empty
}

func (e *Error) Error() string {
	cause := e.Err
	// Err contains the name already.
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
		return "check the name and the current directory"
	case errors.Is(err, fs.ErrExist):
		return "remove it first, or choose another name"
	case errors.Is(err, fs.ErrPermission):
		return "check the permissions of the file and its directories"
	case errors.Is(err, syscall.ENOSPC):
		return "free some space, or write elsewhere"
	case errors.Is(err, syscall.EISDIR):
		return "give a file, or a pattern like " + `'DIR/*'`
	}
	return ""
}

// DataError reports a file with wrong contents: compressed data that is damaged, truncated, or
// of another format than its name indicates.
type DataError struct {
	Name string
	Text string // the fault and a remedy
	Err  error  // the decoder's error; may be nil
}

func (e *DataError) Error() string { return e.Name + ": " + e.Text }

func (e *DataError) Unwrap() error { return e.Err }
