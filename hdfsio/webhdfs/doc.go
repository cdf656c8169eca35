// SPDX-License-Identifier: Apache-2.0

// Package webhdfs implements HDFS's protocol over HTTP, which every name node and data
// node offers:
//
//	c, err := webhdfs.New(webhdfs.Config{Nodes: []string{"nn:9870"}, User: "ada"})
//	fsys, err := remote.New(c, remote.Config{Prefix: "webhdfs://nn:9870", Host: host})
//
// A name node handles operations on names. For reads and writes it redirects the client to a
// data node. Of several name nodes only the active one responds, the others refuse; the
// client finds it and keeps using it.
//
// A client identifies itself by a delegation token or, on a cluster without authentication, by
// a user name, or by a ticket of Kerberos (SPNEGO), which only name nodes get: they give the caller a token
// for the data node. TLS
// trusts the system's authorities; SSL_CERT_FILE names others.
//
// The data nodes check the data that they read against its checksums. In transit only the
// checksums of TCP or TLS protect it.
package webhdfs
