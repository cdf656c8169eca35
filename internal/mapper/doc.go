// SPDX-License-Identifier: Apache-2.0

// Package mapper implements gvw mapper: one rank of a job as the mapper of Hadoop Streaming.
// Package internal/hadoop has the contract with Hadoop.
//
// [Command] reads the task from its environment, fills in the options of the job, and runs the
// learner. A task reports its status to Hadoop at least every 10 s, or a quarter of the task's
// timeout (mapreport.go). Before it allocates anything it compares its memory with the limit of
// the container (maptask.go). Its outputs go to the folder of the attempt, which Hadoop may
// remove while the attempt still runs (taskdir.go).
package mapper
