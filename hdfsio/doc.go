// SPDX-License-Identifier: Apache-2.0

// Package hdfsio reads inputs and writes results on whatever file system they
// live on. The learner above it sees readers and writers only.
//
// # Reading
//
// An [FS] opens a file at an offset. [Open] adds what every input wants: text
// that was compressed with gzip (several members too), zstd or bzip2 comes out
// as text, recognised by its first bytes. [Split] goes one step further and
// gives each rank of a job its own part of a list of files:
//
//	parts, err := hdfsio.Split(hdfsio.Local{}, []string{"train.vw"},
//		hdfsio.Shard{Kind: hdfsio.Bytes, Rank: 2, Total: 4})
//	r, err := parts[0].Open(ctx)
//
// The parts of all ranks are a partition of the lines: by bytes, contiguous and
// in order, a line belongs to the part in which it begins; by lines, line n of
// all files together goes to rank (n-1) mod N. The end of a file always ends a
// line.
//
// A compressed file has no length in text before it is read. A rank that takes
// a part by bytes of compressed files therefore reads them once to count, and
// what stands before its part once more to skip it: about one pass of
// decompression (measured on one core: gzip 0.5 GB/s of text, zstd 0.8 GB/s)
// before the first line. By lines nothing is counted beforehand.
//
// On a file system that is not this machine's ([Caps]) that would be to fetch files
// twice. There a compressed file is known by its name's end, as in Hadoop, and is
// not cut: it goes whole to the rank whose part by stored bytes holds its middle. As
// many files as ranks, of about one size, are one for each. Which rank reads what
// follows from names and sizes alone, wherever it runs: a rank that is started again
// on another host reads the same. Which copy of a block it reads is up to the name
// node, which names those nearest to the reader first.
//
// # Names
//
// [URLs] is the file system that programs use: hdfs://, webhdfs:// and swebhdfs://
// names are on clusters, all others on this machine. Package hdfsio/hdfs chooses how
// to reach a cluster; hdfsio/remote makes a file system of what is found there;
// hdfsio/fstest holds all of them to what is contracted here.
//
// # Writing
//
// [FS.Create] gives a [File] that has its name only after [File.Commit]: it is
// written beside its place under a name of its own, synced, and renamed, and the
// folder is synced. A run that dies leaves the old file as it was. It is
// its owner's alone unless [Local] says otherwise. [File.CommitNew] does not replace: of several who
// write the same name, one has it and the others hear fs.ErrExist.
//
// # What is contracted
//
// Errors are [*Error] (the file system said no: name, reason, advice) and
// [*DataError] (the bytes are not what the name promises). A reader is used by
// one goroutine; an FS by any number.
package hdfsio
