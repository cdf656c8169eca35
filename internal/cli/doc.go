// SPDX-License-Identifier: Apache-2.0

// Package cli parses gvw's command line, and has the parts that all commands share: help,
// error lines, exit codes, signals and the process's streams.
//
// # From arguments to settings
//
// A [Table] has all commands. A [Command] has one [FlagSet] or more, and a FlagSet has a
// [Spec] for each option, its help page, and its rules for other arguments:
//
//	settings, err := set.Read(process, args) // or Parse
//	if settings == nil {
//		return err // or help was printed
//	}
//	err = settings.Dispatch(ctx, func(c *cli.Context) error { … c.Uint64("passes") … })
//
// [Parse] implements vw's grammar (parse.go), replaces @file by the words of the file
// (argfile.go), checks values and writes them in canonical form (values.go), and takes
// options that the arguments lack from the environment. An unknown option, an abbreviation and an option of vw that
// gvw lacks are errors that suggest what to write (suggest.go, otherwords.go). Dispatch gives
// typed values to a function, and [SetFields] copies them to the fields of a configuration
// that the Specs name.
//
// # Process, errors and exit codes
//
// A [Process] has the arguments, the environment and the streams of this process. Commands
// get it as a value, so tests can run them on streams of their own. [Interruptible] returns
// a context that is cancelled by signals.
//
// A [UsageError] is a fault of the command line or of a variable. [ErrorLines] prints an
// error as one line for each fault, with the root cause last. The Exit constants are the
// exit codes of all programs; an error that has its own code implements [ExitCoder].
package cli
