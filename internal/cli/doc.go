// SPDX-License-Identifier: Apache-2.0

// Package cli reads gvw's command line and holds what all commands share.
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
// [Parse] speaks vw's grammar (parse.go), replaces @file by the words of the file
// (argfile.go), checks values and spells them canonically (values.go), and takes what is
// missing from the environment. An unknown option, an abbreviation and an option of vw that
// gvw lacks are errors that suggest what to write (suggest.go, otherwords.go). Dispatch gives
// typed values to a function, and [SetFields] copies them to the fields of a configuration
// that the Specs name.
//
// # Process, errors and exit codes
//
// A [Process] has the arguments, the environment and the streams of this process. Commands
// get it as a value, so tests can run them on streams of their own. [Interruptible] returns
// a context that signals end.
//
// A [UsageError] is a fault of the command line or of a variable. [ErrorLines] prints an
// error as one line for each fault, with the root cause last. The Exit constants are the
// exit codes of all programs; an error that has its own code implements [ExitCoder].
package cli
