// SPDX-License-Identifier: Apache-2.0

// Package rundir is the run directory: it keeps the files that a run has
// delivered, so that an attempt of a rank that starts after the end of the run can copy
// its output. Such attempts are late duplicates, and ranks that were
// killed after the end of their work and restarted by a launcher.
//
//	d := &rundir.Dir{FS: fs, Base: "/out/_gvw", Run: "job_17"}
//	err := d.Begin(options)                          // before the work: is the run ID unused?
//	err = d.Put("model", sum, write)                 // when the work is done, before it is reported to the server
//
//	in, err := d.Open("model", sum)                  // in a late attempt; the server has sent sum
//	sum, err := d.Find("model")                      // or, without a server, the existing file
//
// # Files
//
//	BASE/RUN/options-SHA256    the options on which the run's ranks agree, as text
//	BASE/RUN/model-SHA256      what rank 0 has delivered as -f
//	BASE/RUN/predictions-2-SHA256   what rank 2 has delivered as -p
//
// SHA256 is the digest of the file's bytes in hexadecimal. Different contents therefore never
// have the same name: an existing file is complete, and Put of it has nothing to do. RUN is
// the run's key, with % and two digits for each byte that some file systems do not
// allow in a name; for a long key its beginning and a digest.
//
// # Contract
//
// Files appear under their names when they are complete ([hdfsio.FS]). Nothing is removed:
// only the user knows when no attempt can start any more. The directory is made with the first
// delivery. A run with the same key and other options is a conflict: Begin
// returns a [*RunIDConflictError] with the differences. A [*MissingError] describes a missing
// file. After Begin a Dir is safe for concurrent use.
package rundir
