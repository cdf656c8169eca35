// SPDX-License-Identifier: Apache-2.0

// Package webhdfs speaks HDFS's protocol over HTTP, which every name node and data
// node offers:
//
//	c, err := webhdfs.New(webhdfs.Config{Nodes: []string{"nn:9870"}, User: "ada"})
//	fsys, err := remote.New(c, remote.Config{Prefix: "webhdfs://nn:9870", Host: host})
//
// A name node answers what concerns names, and sends who reads or writes bytes to a
// data node by a redirect. Of several name nodes the one that is active answers, the
// others refuse; the client finds it and stays with it.
//
// Who calls is said by a delegation token or, where the cluster asks for no proof, by
// a user's name. Kerberos itself (SPNEGO) is not spoken: a token stands for it. TLS
// trusts what the system trusts; SSL_CERT_FILE names other authorities.
//
// The data nodes check what they read against its checksums; on the way TCP's, or
// TLS's, have to do.
package webhdfs
