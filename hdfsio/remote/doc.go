// SPDX-License-Identifier: Apache-2.0

// Package remote makes an [hdfsio.FS] of what a client for a distributed file
// system can do. A client is a small [Backend] whose calls may fail; the FS on top
// has names with scheme and host, patterns, files that appear whole, and patience:
//
//	fsys, err := remote.New(backend, remote.Config{Prefix: "hdfs://gateway:8020"})
//	r, err := fsys.Open("hdfs://gateway:8020/in/part-0", 1<<20)
//
// # Reading
//
// A file is read as it was when it was opened, to the size that it had. A
// connection that breaks, or ends before that, is opened again where it broke: a
// server that is restarted costs time, not the job. Only Patience without one byte
// is an error; a file that has changed in between is one at once.
//
// # Writing
//
// What is written goes to a file on this machine first (Config.Spool), because no
// client for HDFS can go on with a write whose server has died: it has to begin
// anew, with all bytes at hand. Create makes an empty file in the folder and removes
// it, so that a missing folder, a permission or a safe mode is found out before hours
// of work and not after. Commit writes the whole beside its place under a name of
// its own, looks whether all of it has arrived, and renames. A process that dies
// leaves nothing under the final name; what it may leave beside, if it dies during
// Commit, begins with a dot and is not found by patterns.
//
// # What is contracted
//
// Errors are [*hdfsio.Error] and name the file, the operation, the back end and what
// to do. What the server itself said is a [*Refusal] within. Every call ends: each
// attempt within the limits of the back end, all of them within Patience.
package remote
