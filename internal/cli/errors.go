// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/internal/plain"
)

// Exit codes. Code 0 is success; 130 and 143 are a shell's codes for SIGINT and SIGTERM.
// They are part of the interface: docs/operations.md lists them, and launchers restart a rank
// by them (launch.Curable).
const (
	ExitUsage    = 1 // a fault of the command line or the environment
	ExitData     = 2 // malformed data
	ExitLost     = 3 // a rank or the server was lost
	ExitDeadline = 4 // a deadline passed while ranks were missing
	ExitIO       = 5 // a file or a connection failed, and anything else
	ExitRefused  = 6 // the server or another rank refused this one
)

// ExitCoder is an error that has its own exit code.
type ExitCoder interface {
	error
	ExitCode() int
}

// ExitError is the failure of another process, whose exit code becomes that of this one.
type ExitError struct {
	Text string
	Code int
}

func (e *ExitError) Error() string { return e.Text }

// ExitCode returns the exit code of the other process.
func (e *ExitError) ExitCode() int { return e.Code }

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

// ErrorLines returns the messages of an error, one for each fault. Joined errors begin with the
// root cause; the lines end with it, since people read the last line.
func ErrorLines(err error) []string {
	var lines []string
	for _, e := range Joined(err) {
		text := plain.Text(strings.Join(strings.Fields(e.Error()), " "))
		lines = append([]string{text}, lines...)
	}
	return lines
}

// Joined returns the errors of errors.Join, also of nested ones, or the error itself. It
// distinguishes errors.Join from fmt.Errorf with several %w by the text: the text of the
// latter has more than the joined lines, so it stays one error.
func Joined(err error) []error {
	j, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	texts := make([]string, len(j.Unwrap()))
	var all []error
	for i, e := range j.Unwrap() {
		texts[i] = e.Error()
		all = append(all, Joined(e)...)
	}
	if err.Error() != strings.Join(texts, "\n") {
		return []error{err}
	}
	return all
}
