// SPDX-License-Identifier: Apache-2.0

// Package hdfs chooses the client for a Hadoop cluster's files:
//
//	files := &hdfsio.URLs{Dial: hdfs.Dialer(hdfs.Config{Conf: conf, User: "ada", Host: host})}
//	r, err := hdfsio.Open(files, "hdfs://gateway/in/part-0.gz")
//
// There are three clients for hdfs:// names, and Config.Client selects one. The default,
// auto, takes the first that works:
//
//	native   HDFS's own protocols. Needs a cluster without authentication,
//	         or a Kerberos ticket or keytab.
//	webhdfs  HTTP, with TLS where data must be protected. Needs a cluster without
//	         authentication, a delegation token, or a Kerberos ticket or keytab.
//	pipe     Hadoop's own client as a process. Needs hdfs or hadoop, and Java.
//
// A client works if it can stat the root directory. Config.Log receives the choice, with
// the reason why each earlier client was rejected; if none works, the error has all
// reasons. With auto, WebHDFS reads the files that the native client cannot read
// (erasure-coded, or in an encryption zone).
//
// webhdfs:// and swebhdfs:// select the client themselves.
package hdfs
