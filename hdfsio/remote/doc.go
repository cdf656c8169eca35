// SPDX-License-Identifier: Apache-2.0

// Package remote makes an [hdfsio.FS] of a client for a distributed file
// system. A client is a small [Backend] whose calls may fail. The FS adds
// names with scheme and host, patterns, atomic creation of files, and retries:
//
//	fsys, err := remote.New(backend, remote.Config{Prefix: "hdfs://gateway:8020"})
//	r, err := fsys.Open("hdfs://gateway:8020/in/part-0", 1<<20)
//
// # Reading
//
// A file is read up to the size that it had when it was opened. A
// connection that breaks, or ends before that, is reopened where it broke: a
// restart of a server costs time, not the job. Only a time of Patience without one byte
// is an error. A file that has been changed meanwhile is an error at once.
//
// # Writing
//
// Data is first written to a temporary file on this machine (Config.Spool). No client for
// HDFS can continue a write whose server has died: it must start again with all bytes.
// Create makes an empty file in the directory and removes it, so that a missing directory, a
// missing permission or safe mode is detected before hours of work and not after. Commit
// writes the file under a temporary name in the same directory, checks that all of it has
// arrived, and renames it. A process that dies leaves nothing under the final name. A temporary
// file that it may leave during Commit has a name that begins with a dot, which patterns do not
// match.
//
// # Contract
//
// Errors are [*hdfsio.Error] and name the file, the operation, the back end and a
// remedy. They wrap the server's own error as a [*Refusal]. Every call ends: each
// attempt within the limits of the back end, all attempts within Patience.
package remote
