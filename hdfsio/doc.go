// SPDX-License-Identifier: Apache-2.0

// Package hdfsio reads inputs from, and writes results to, any file system. Its users see only
// readers and writers.
//
// # Reading
//
// An [FS] opens a file at an offset. [Open] also decompresses gzip (with any number of
// members), zstd and bzip2, which it recognises by their first bytes. [Split] gives each rank
// of a job its part of a list of files:
//
//	parts, err := hdfsio.Split(hdfsio.Local{}, []string{"train.vw"},
//		hdfsio.Shard{Kind: hdfsio.Bytes, Rank: 2, Total: 4})
//	r, err := parts[0].Open(ctx)
//
// The parts of all ranks are a partition of the lines. By bytes, parts are contiguous and
// in order, and a line belongs to the part in which it begins. By lines, line n of
// all files together goes to rank (n-1) mod N. The end of a file always ends a
// line.
//
// The length in text of a compressed file is unknown before it is read. A rank that takes
// a part by bytes of compressed files therefore reads them once to count. It then reads the
// text before its part again to skip it. That takes about one pass of decompression
// (measured on one core: gzip 0.5 GB/s of text, zstd 0.8 GB/s) before the first line.
// By lines nothing is counted beforehand.
//
// On a remote file system ([Caps]) this would transfer files twice. There a compressed file
// is recognised by its extension, as in Hadoop, and is not cut. It goes as a whole to the rank
// whose part by stored bytes contains its middle. If there are as many files as ranks, of about
// the same size, each rank gets one. The assignment depends only on names and sizes, not on
// the host: a rank that is restarted on another host reads the same. Which replica of a block
// it reads is the choice of the name node, which lists those nearest to the reader first.
//
// # Names
//
// [URLs] is the file system that programs use. Names that begin with hdfs://, webhdfs:// or
// swebhdfs:// are on clusters, all others on this machine. Package hdfsio/hdfs chooses the client
// for a cluster; hdfsio/remote makes a file system of a client;
// hdfsio/fstest tests all of them against the contract below.
//
// # Writing
//
// [FS.Create] returns a [File] that gets its name only at [File.Commit]. It is
// written to a temporary file in the same directory, synced, and renamed, and the
// directory is synced. A run that dies leaves the old file unchanged. By default only the
// owner can access the file; see [Local]. [File.CommitNew] does not replace a file: of several
// writers of one name one succeeds, and the others get fs.ErrExist.
//
// # Contract
//
// Errors are [*Error] (an operation of the file system failed: name, reason, advice) or
// [*DataError] (the contents of a file are damaged). A reader is used by
// one goroutine at a time; an FS is safe for concurrent use.
package hdfsio
