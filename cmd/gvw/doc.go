// SPDX-License-Identifier: Apache-2.0

// Gvw learns linear models as Vowpal Wabbit does, on one machine or on a cluster.
//
//	gvw -d train.vw -f model [OPTIONS]           train
//	gvw -d test.vw -t -i model -p predictions    predict
//	gvw run -n 4 -- -d train.vw -f model ...     train with 4 processes
//	gvw version
//
// The command line is vw's: options, short forms, attached values, lists, repeats. gvw --help
// shows it on one screen, gvw --help all in full. Where vw guesses, gvw returns an error: for
// an option that would be ignored, a misspelling, an abbreviation, and an option of vw that
// gvw lacks.
//
// # The table of commands
//
// commands.go has one table of all commands: the options of each, its help page, its rules
// for arguments, and the function that runs it. main.go chooses a command by the first word,
// and exit.go maps the error that it returns to an exit code. The rest is in packages:
//
//	internal/cli        grammar of the command line, help, suggestions, process, signals
//	internal/flags      tables of options
//	internal/files      file systems, inputs and outputs that options name
//	internal/joinflags  options of a job, credentials, faults
//	internal/train      gvw without a command
//	internal/run        gvw run, gvw supervise
//	internal/mapper     gvw mapper
//	internal/search     gvw search
//	internal/remote     gvw remote, by which gvw run --hosts starts workers
//	internal/programs   gvw svm, gvw nn, gvw factor
//	internal/show       gvw report, gvw plot, gvw timeline
//	internal/tools      the other commands
//
// # Exit codes
//
//	0 done   1 usage   2 data   3 peer lost   4 deadline   5 input or output
//	6 refused   130 SIGINT   143 SIGTERM
//
// The last line of a failed run has the root cause, where it occurred, and the remedy.
// Standard output gets data only, such as predictions; diagnostics go to standard error.
package main
