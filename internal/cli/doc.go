// SPDX-License-Identifier: Apache-2.0

// Package cli reads gvw's command line and holds what all commands share.
//
// A [Process] has the arguments, the environment and the streams of this process. Commands
// get it as a value, so tests can run them on streams of their own.
//
// # Errors and exit codes
//
// A [UsageError] is a fault of the command line or of a variable. [ErrorLines] prints an
// error as one line for each fault, with the root cause last. The Exit constants are the
// exit codes of all programs; an error that has its own code implements [ExitCoder].
package cli
