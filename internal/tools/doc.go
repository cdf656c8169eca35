// SPDX-License-Identifier: Apache-2.0

// Package tools has the commands of gvw that do not train.
//
//   - [Inspect], [Diff] and [Convert] read model files.
//   - [Jobs] and [Cancel] talk to a spanning_tree server.
//   - [Doctor] examines the network between ranks, or lists RDMA devices.
//   - [AllReduce] reduces vectors from stdin over the ranks of a job.
//   - [Topo] draws the schedule of an all-reduce, and [Bench] measures one.
//   - [Keygen] makes secrets and certificates, and [Faults] lists the faults of GVW_FAULT.
//   - [Hadoop] answers what a launcher of map tasks has to know.
//
// A command gets its process, its entry in the table of commands and its arguments. Data goes
// to the process's Stdout, diagnostics to its Stderr.
package tools
