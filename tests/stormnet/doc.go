// SPDX-License-Identifier: Apache-2.0

// Package stormnet runs jobs of four ranks over a network and disks that fail at random,
// and checks how each job ends.
//
// Every job has a Linux network of its own: a gateway for the server, one host per rank
// and spare hosts, each in a network namespace with an address on one bridge. Every host
// has a disk of its own, and all hosts share another one for checkpoints and for the run
// directory. One to three faults of a Scenario strike while the job runs: processes are
// killed, stopped or crash; hosts are partitioned; packets are lost or answered by a reset;
// disks fill up, turn read-only or freeze; descriptors and memory run out; the server pauses
// or dies. A fault lasts for a while or for good. A rank whose host has failed for good gets
// another attempt on a spare host, as a cluster's scheduler would do it.
//
//	make storm-net                               300 jobs, and a table of what became of them
//	STORM=50 STORM_SEED=7 go test -v -run TestStorm ./tests/stormnet
//	STORM_ONLY=17 …                              job 17 of that seed
//
// A job fails the test if it does not end within the sum of its configured time-outs and
// five seconds, if it leaves a model with other bytes than an undisturbed job, if it fails
// although enough hosts and disks are left, or if its last line does not name a fault that
// struck. The test needs root, and iproute2, nftables, e2fsprogs and util-linux.
package stormnet
