// SPDX-License-Identifier: Apache-2.0

// Package rundir is a run's own place: a folder in which the files that the run has
// delivered stay, so that an attempt of a rank that comes when all is over can write
// what it was started for. Such attempts are late duplicates, and ranks that were
// killed on their way out and that a launcher starts again.
//
//	d := &rundir.Dir{FS: fs, Base: "/out/_gvw", Run: "job_17"}
//	err := d.Begin(options)                          // before the work: is the name free?
//	err = d.Put("model", sum, write)                 // when all is done, before the server is told
//
//	in, err := d.Open("model", sum)                  // in a late attempt; sum is the server's word
//	sum, err := d.Find("model")                      // or, without one, what is there
//
// # Files
//
//	BASE/RUN/options-SHA256    the options on which the run's ranks agree, as text
//	BASE/RUN/model-SHA256      what rank 0 has delivered as -f
//	BASE/RUN/predictions-2-SHA256   what rank 2 has delivered as -p
//
// SHA256 is of the file's bytes, in hexadecimal digits. So nobody ever writes another
// thing to the same name: a file that is there is whole, and Put of one that is there
// has nothing to do. RUN is the run's key, with % and two digits for each byte that not
// every file system takes in a name; of a long one the beginning, and a digest.
//
// # Contract
//
// Files appear under their names when they are whole ([hdfsio.FS]). Nothing is removed:
// who started the run knows when nobody can come any more. Before anything is delivered
// there is no folder. A run of the same key with other options is another run: Begin
// refuses it with a [*TakenError] that says what differs. A [*MissingError] says what is
// not there. After Begin a Dir may be used by several goroutines.
package rundir
