// SPDX-License-Identifier: Apache-2.0

// Package allreduce lets the processes of a job compute together: they add up vectors over all
// of them, broadcast vectors, gather small records, and wait for each other. A job can survive
// the loss of any of its processes, which are called ranks.
//
//	cfg, err := allreduce.ConfigFromEnv(os.LookupEnv) // set by gvw run -n 4 -- PROGRAM
//	…
//	g, err := allreduce.Join(ctx, cfg)
//	…
//	defer g.Close()
//	gradient := make([]float64, 1<<20)
//	…
//	err = g.AllReduce(ctx, allreduce.Vec(gradient).Named("gradient"), allreduce.Sum)
//	…
//	err = g.Done(ctx) // returns when all ranks have called it
//
// The example of this package is the same as a complete program. Without a launcher the program
// fills in a [Config]: the address of a spanning_tree server, the job's number, this process's
// rank, and the number of ranks. Vectors never pass through the server.
//
// # Collectives
//
// All ranks call the same collectives in the same order, each from one goroutine at a time.
//
//	AllReduce, AllReduceInto     reduce the vectors of all ranks; the result goes to all
//	Reduce                       the same, with the result on one rank
//	ReduceScatter                the same, with one Segment of the result on each rank
//	Broadcast                    copy one rank's vector to all
//	AllGather, Gather, Scatter   exchange the segments of a vector
//	AllGatherV                   gather a record of each rank, of any length
//	SendRecv                     send to one rank, receive from another
//	Barrier                      wait for all ranks
//
// A reduction uses Sum, Product, Min, Max, or an operation made by [NewOp]. The Accumulate methods
// are the sums and averages of vw.
//
// A [Vector] is a view of the caller's memory. A collective reads and writes that memory until it
// returns, and allocates nothing after the first call of a size. Vectors made by [Alloc] are in
// memory that other ranks of the host share, or that an RDMA device has registered.
//
// # Same bits
//
// The result of a collective has the same bits on all ranks and in every run. The order of
// additions depends only on the number of ranks, the length of the vector and Config.Schedule
// (package schedule). Timing, driver, chunk size, shared memory and processors do not change it.
//
// # Failures
//
// No collective waits without a limit for a rank that is lost. If the job cannot continue, all
// ranks return the same root cause as one of
//
//	*LostError      a rank was lost or gave up (Fail, a cancelled context)
//	*DeadlineError  no byte has moved for Config.Stall, or a rank has not entered for Config.MaxWait
//	*MismatchError  two ranks made different calls; the error shows both
//	ErrClosed       the group is closed
//
// for example
//
//	rank 3: all-reduce #17 (gradient, 64 MiB): 12 s, waiting for rank 7 (h7:26550), 41 MiB received: lost rank 7 (h7): connection lost
//
// All later collectives return the same error. [Group.Failed] reports a failure between two
// collectives. A cancelled context fails the job if a collective is under way, since the other
// ranks wait for this one's bytes.
//
// # Recovery
//
// A program that survives losses is a [Machine]: a sequence of steps, each with Work, Exchange and
// Commit, that [Group.Run] drives and [Group.Finish] ends. [Local] runs the same machine in
// one process. If the machine is [Recoverable] and Config.OnLoss is Wait, the job waits for another
// attempt of a lost rank and repeats the interrupted exchange; no other rank repeats its work, and
// the result has the bytes of a run without faults. With Shrink the job continues without the
// rank ([Shrinker]). Config.Checkpoints keeps the state for the case that all ranks are lost. A
// program that calls collectives without Run gets an [InterruptedError] when an epoch ends.
//
// # Jobs with vw workers
//
// If a vw worker is in the job, or the server is vw's own, all ranks use vw's stream over vw's
// tree ([Group.Stream]). It has sums of float32 only, in vw's sequence of calls. [Group.Leaving]
// describes its end. A loss then ends the job.
//
// # Further reading
//
// docs/allreduce.md is the guide,
// docs/architecture.md describes how the package is built, and docs/faults.md lists the faults
// that it survives, with the test of each.
package allreduce
