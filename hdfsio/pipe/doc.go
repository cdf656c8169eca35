// SPDX-License-Identifier: Apache-2.0

// Package pipe reads and writes HDFS through Hadoop's own client, hdfs dfs or hadoop
// fs, as a process on the other end of a pipe:
//
//	c, err := pipe.New(pipe.Config{Command: []string{"hdfs", "dfs"}, Prefix: "hdfs://nn:8020"})
//	fsys, err := remote.New(c, remote.Config{Prefix: "hdfs://nn:8020", Host: host})
//
// It works wherever that client works, with all ways to log in, encryption zones and
// erasure coding. It is slow: each call starts a Java virtual machine, which takes about a
// second. It cannot start in the middle of a file: the bytes before an
// offset are read and discarded.
//
// The client replaces a file by removing the old one first. For a moment no file has the
// name, but never an incomplete one. If the process dies in that moment, the
// complete new file remains under a temporary name that begins with a dot.
package pipe
