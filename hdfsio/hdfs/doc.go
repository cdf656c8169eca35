// SPDX-License-Identifier: Apache-2.0

// Package hdfs chooses the way to a Hadoop cluster's files:
//
//	files := &hdfsio.URLs{Dial: hdfs.Dialer(hdfs.Config{Conf: conf, User: "ada", Host: host})}
//	r, err := hdfsio.Open(files, "hdfs://gateway/in/part-0.gz")
//
// There are three ways to an hdfs:// name, and Config.Client says which; auto, the
// default, takes the first that works:
//
//	native   HDFS's own protocols. Needs: a cluster that asks for no proof of who
//	         calls, or a Kerberos ticket or keytab.
//	webhdfs  HTTP. Needs: a cluster that asks for no proof, or a delegation token.
//	pipe     Hadoop's own client as a process. Needs: hdfs or hadoop, and Java.
//
// Whether a way works is seen by asking for the root folder. What was taken is told
// to Config.Log, with the reason why each way before it was left; if none works, the
// error has all reasons. Under auto a file that the native client cannot read
// (erasure-coded, or in an encryption zone) is read by WebHDFS.
//
// webhdfs:// and swebhdfs:// name their way themselves.
package hdfs
