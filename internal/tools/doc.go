// SPDX-License-Identifier: Apache-2.0

// Package tools has the commands of gvw that do not train.
//
//   - [Inspect], [Diff] and [Convert] read model files.
//   - [Topics] describes a topic model, and [Infer] infers the topics of documents.
//   - [Doctor] examines the network between ranks, or lists RDMA devices.
//   - [AllReduce] reduces vectors from stdin over the ranks of a job.
//   - [Malt] exchanges vectors from stdin with other ranks of a job.
//   - [Topo] draws the schedule of an all-reduce, and [Bench] measures one.
//   - [Keygen] makes secrets and certificates, and [Faults] lists the faults of GVW_FAULT.
//   - [Hadoop] computes split sizes, and whether all maps of a job fit a cluster at once.
//
// Packages below it have the commands of one subject: jobs those that ask a server, simulation gvw simulate.
//
// A command gets its process, its entry in the table of commands and its arguments. It writes
// data to the process's Stdout and diagnostics to its Stderr. Text that comes from other
// processes is escaped by package plain before it is printed.
package tools
