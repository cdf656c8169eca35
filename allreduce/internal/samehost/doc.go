// SPDX-License-Identifier: Apache-2.0

// Package samehost finds the ranks of a job that share memory.
//
// Ranks with the same host in their addresses are candidates ([Hosts]). They may still be on
// different machines, for example behind one address translation. So the ranks agree, by two small
// all-reduces that the caller carries out:
//
//	found, err := samehost.Find(ctx, samehost.Config{
//		Rank: 3, Hosts: hosts, Segments: segments, Log: log,
//	}, agree)
//
// All ranks of the job call Find, and call agree equally often: that follows from the addresses,
// which are the same on all ranks, and from results of agree. A lack of shared memory is no error.
// found.Hosts are the hosts whose ranks all share memory, and are the same on all ranks.
//
// # Protocol
//
// First the ranks of each host compare a hash of their machine's identity, and learn from the
// host's first rank the place of the segment that it has made ([offer]). Each of them opens it. Then
// they report whether all of them have: only then they use it.
package samehost
