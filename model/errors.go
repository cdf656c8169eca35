// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
)

// The kinds of faults of a file. An error of reading matches one of these with errors.Is,
// unless it comes from the underlying reader.
var (
	// ErrNotModel: the file does not begin as a regressor does.
	ErrNotModel = errors.New("not a vw model")
	// ErrVersion: a version of vw whose layout is not known here.
	ErrVersion = errors.New("unsupported version")
	// ErrTruncated: the file ends too early.
	ErrTruncated = errors.New("truncated")
	// ErrDamaged: the content contradicts itself.
	ErrDamaged = errors.New("damaged")
	// ErrLimit: more than the limits allow.
	ErrLimit = errors.New("over the limit")
)

// FormatError reports the position and the kind of a fault in a file.
type FormatError struct {
	Offset int64  // byte at which the field begins
	Field  string // the field that was being read
	Kind   error  // one of the Err values of this package, or the reader's error
	Detail string // got, want and the remedy; may be empty
}

// Error returns all fields in one line.
func (e *FormatError) Error() string {
	s := fmt.Sprintf("model: %s at byte %d: %v", e.Field, e.Offset, e.Kind)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns Kind.
func (e *FormatError) Unwrap() error { return e.Kind }
