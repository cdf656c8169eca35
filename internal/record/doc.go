// SPDX-License-Identifier: Apache-2.0

// Package record writes and reads the record of a run: a file of JSON lines from which gvw report draws its pages.
//
//	w := record.NewWriter(file, rank, nil) // in every process of the run
//	w.Add(&record.Run{…})                  // only in the first one
//	w.Add(&record.Pass{…})
//	err = w.Close(nil)
//
//	run, err := record.Read("run.jsonl", file)
//
// # File
//
// docs/formats.md specifies the events. A line is one JSON object with the fields event, time (seconds since 1970) and
// rank. Fields and events may be added, and are never renamed: a reader ignores those that it does not know. The version
// changes only if an old reader would be wrong about a new file.
//
// Each line is one write to a file that is open for appending. Several processes of one machine can therefore write one
// file, and the file is readable at any time, also after a crash. Files of one run that were written on several machines
// can be concatenated in any order. A last line that is incomplete is left out.
//
// # Contract
//
// A file is bounded. Per process it has at most 512 lines of steps for each doubling of their number, since a line covers
// twice as many steps from then on. Messages are limited to 1000, and all lines to 64 MiB, after which only the end is
// written, with the number of lines left out.
//
// A nil Writer writes nothing. A Writer is safe for concurrent use. After an error it writes no more, and Close returns
// the error.
package record
