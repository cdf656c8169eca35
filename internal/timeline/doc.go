// SPDX-License-Identifier: Apache-2.0

// Package timeline writes what a rank does over time as a Chrome trace, which Perfetto and chrome://tracing open.
//
//	t := timeline.New(file, rank, timeline.NewClock(machine))
//	began := time.Now()
//	…
//	t.Span(timeline.Steps, "work", began, 0)
//	err := t.Close()
//
// # File
//
// The file is a JSON array with an event a line. The process of an event (pid) is the rank. Its thread (tid) is a row:
//
//	0  steps        work, exchange and commit of each step of the job
//	1  collectives  with the name of the vector and its bytes
//	2  sends        parts of a vector, until the system has taken the last byte
//	3  receives     parts of a vector, from the header to the last byte
//
// A rank waits where it is in a collective, and neither sends nor receives. Where ranks share memory there are no sends
// and receives in the file; a [Meter] gets their bytes, and the time in which they wait. Times are microseconds since 1970
// by the rank's clock, which the calendar sets at its start. The last line closes the array. Without it, as after a crash,
// the events are still readable. A last event that is incomplete is ignored.
//
// # Clocks
//
// The clocks of machines differ. A rank exchanges messages with its server and writes each exchange into its file
// ([Recorder.Exchanged]). [Clocks] estimates the offsets from the exchanges of all ranks, by package offset, and merges
// the files into one on the clock of the server. That file states the error of each rank's times ([ClockError]):
//
//	var c timeline.Clocks
//	for each file { err := c.Read(file) }
//	err := c.Merge(out, files...)
//	errs := c.Errors()
//
// # Contract
//
// A nil Recorder records nothing. A Recorder is safe for concurrent use. An error of the writer ends the recording, and
// Close returns it.
package timeline
