// SPDX-License-Identifier: Apache-2.0

// Package access chooses how a rank writes to the memory of the others: by shared memory on one machine, by an RDMA
// device on others, or not at all:
//
//	a := access.Open(access.Config{Rank: 0, Hosts: addresses, Device: "auto", Library: lib, Log: log})
//	defer a.Close()
//	c := carrier.New(carrier.Config{Memory: a.Memory, …})
//
// An Access belongs to one epoch. Updates for a rank into whose memory there is no way go over the network.
package access
