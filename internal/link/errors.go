// SPDX-License-Identifier: Apache-2.0

package link

import "fmt"

// BrokenError reports that a link ended or that its connection failed.
type BrokenError struct{ Err error }

func (e *BrokenError) Error() string { return "the connection broke: " + e.Err.Error() }

func (e *BrokenError) Unwrap() error { return e.Err }

// CorruptError reports that the peer sent bytes that are not valid at that place.
type CorruptError struct{ Err error }

// Corrupt returns a CorruptError with a formatted text.
func Corrupt(format string, args ...any) error { return &CorruptError{fmt.Errorf(format, args...)} }

func (e *CorruptError) Error() string { return e.Err.Error() }

func (e *CorruptError) Unwrap() error { return e.Err }

// UpgradeError reports that this rank cannot upgrade a link although the job requires it.
type UpgradeError struct{ Err error }

func (e *UpgradeError) Error() string { return e.Err.Error() }

func (e *UpgradeError) Unwrap() error { return e.Err }
