// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
)

// UsageError is a fault of the command line or the environment. The process exits
// with ExitUsage.
type UsageError struct {
	text string
	err  error // may be nil
}

func (e *UsageError) Error() string { return e.text }
func (e *UsageError) Unwrap() error { return e.err }

// Usagef returns a UsageError. Its format is that of fmt.Errorf; at most one operand is wrapped.
func Usagef(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &UsageError{text: err.Error(), err: errors.Unwrap(err)}
}
