// SPDX-License-Identifier: Apache-2.0

// Package hadoop implements the interface between Hadoop Streaming and its mappers. Its
// functions compute on values; only [Sites] reads files, and only [AskRoom] opens connections.
//
// # Inside a map task
//
// Streaming puts the whole configuration of the job into the environment of the
// mapper. [Parse] returns the position of the task:
//
//	task, ok, err := hadoop.Parse(os.Environ())
//	// task.Rank of task.Total, task.Job, task.Generation, task.Attempt …
//
// It understands the names of MapReduce 1 (mapred_…) and of YARN (mapreduce_…), and
// prefers the latter. The number of maps is
// mapreduce_job_maps on YARN and mapred_map_tasks in MapReduce 1. The values of some
// variables contain newlines, so the environment is a list of NAME=value and never text.
//
//	rank         mapreduce_task_partition: from 0, by falling size of the split, the
//	             same for every attempt
//	total        mapreduce_job_maps: the number of splits that there really are
//	run          the ID of the job
//	generation   mapreduce_job_application_attempt_id: YARN's number of the
//	             ApplicationMaster, which restarts all maps that have not ended
//	attempt      the last field of the attempt's ID
//
// [Task.MemoryLimit] returns the memory that a container leaves to the mapper: its size
// without the heap of the task's JVM, which shares the container, and without a tenth of the
// size.
//
// # Output of a mapper
//
// Streaming reads a mapper's stderr by lines. Some lines are for Hadoop: [AppendStatus] sets
// the task's status, and [AppendCounter] adds to a counter. Every line, also one that is not
// for Hadoop, resets the task's timeout.
//
// # Before a job
//
// [SplitSize] returns the least size of a split that gives N maps for files of given sizes:
// Streaming uses the old programming interface, which ignores a largest size. [Fit] returns
// the number of maps that a cluster runs at once. MapReduce starts the maps that fit
// and queues the others; in a job whose ranks wait for each other, that is a deadlock.
package hadoop
