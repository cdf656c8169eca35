// SPDX-License-Identifier: Apache-2.0

// Package native speaks HDFS's own protocols, through github.com/colinmarc/hdfs:
//
//	c, err := native.New(native.Config{Nodes: []string{"nn:8020"}, User: "ada"})
//	fsys, err := remote.New(c, remote.Config{Prefix: "hdfs://nn:8020", Host: host})
//
// It is the quickest way, checks every byte against HDFS's checksums, and needs
// nothing but the network. What it cannot do is an error that is
// errors.ErrUnsupported, so that another way is taken: log in by a delegation token,
// and read files that are erasure-coded or in an encryption zone.
//
// What the library leaves open is settled here: connections have deadlines; one that
// has failed is replaced at once; the end of a file is waited for until its blocks
// are there; what a name node refuses is told by its reason.
package native
