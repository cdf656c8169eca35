// SPDX-License-Identifier: Apache-2.0

// Package pipe reads and writes HDFS through Hadoop's own client, hdfs dfs or hadoop
// fs, as a process on the other end of a pipe:
//
//	c, err := pipe.New(pipe.Config{Command: []string{"hdfs", "dfs"}, Prefix: "hdfs://nn:8020"})
//	fsys, err := remote.New(c, remote.Config{Prefix: "hdfs://nn:8020", Host: host})
//
// It works wherever that client does, with every way to log in, encryption zones and
// erasure coding. It is slow to start: each call starts a Java machine, which takes a
// second or so; and it cannot begin in the middle of a file: what stands before an
// offset is read and dropped.
//
// The client replaces a file by removing the old one first. For a moment there is
// none under the name; there never is a half one. If the process dies in this
// moment the new file, whole, is beside its place under a name that begins with a dot.
package pipe
