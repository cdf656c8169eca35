// SPDX-License-Identifier: Apache-2.0

package cli

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
