// SPDX-License-Identifier: Apache-2.0

// Package hadoop is what Hadoop Streaming and its mappers say to each other, as
// values: nothing here reads the environment, a file or a socket.
//
// # Inside a map task
//
// Streaming puts the whole configuration of the job into the environment of the
// mapper. [Parse] finds in it where the task stands:
//
//	task, ok, err := hadoop.Parse(os.Environ())
//	// task.Rank of task.Total, task.Job, task.Generation, task.Attempt …
//
// Two generations of names are understood, that of MapReduce 1 (mapred_…) and that of
// YARN (mapreduce_…); where both are there YARN's count. The number of maps is under
// mapreduce_job_maps on YARN and under mapred_map_tasks before. The values of some
// variables hold newlines, so the environment is a list of NAME=value and never text.
//
//	rank         mapreduce_task_partition: from 0, by falling size of the split, the
//	             same for every attempt
//	total        mapreduce_job_maps: the number of splits that there really are
//	run          the id of the job
//	generation   mapreduce_job_application_attempt_id: YARN's number of the
//	             ApplicationMaster, which starts all maps again that have not ended
//	attempt      the last field of the attempt's id
//
// [Task.MemoryLimit] is what a container leaves to the mapper: its size without the heap
// of the task's JVM, which is in the same container, and without a tenth of the
// whole.
//
// # What a mapper says
//
// Streaming reads a mapper's stderr by lines. Some are for Hadoop: [AppendStatus] sets
// the task's status, [AppendCounter] adds to a counter. Any of them, and any other line,
// keeps the task alive.
//
// # Before a job
//
// [SplitSize] answers which least size of a split gives N maps for files of given sizes:
// streaming uses the old programming interface, where a largest size does
// nothing. [Fit] answers how many maps a cluster runs at once, since MapReduce starts
// those that fit and lets the others wait, which in a job of ranks that wait for each
// other is for ever.
package hadoop
