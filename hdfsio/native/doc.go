// SPDX-License-Identifier: Apache-2.0

// Package native implements HDFS's own protocols with github.com/colinmarc/hdfs:
//
//	c, err := native.New(native.Config{Nodes: []string{"nn:8020"}, User: "ada"})
//	fsys, err := remote.New(c, remote.Config{Prefix: "hdfs://nn:8020", Host: host})
//
// It is the fastest client, checks every byte against HDFS's checksums, and needs
// only the network. It does not support logging in with a delegation token, nor reading files
// that are erasure-coded or in an encryption zone. These fail with an error that is
// errors.ErrUnsupported, so that another client is used.
//
// It adds to the library: connections have deadlines; a failed connection is
// replaced at once; closing a file waits until its blocks are complete; errors of a name
// node have their reason.
package native
