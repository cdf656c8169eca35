// SPDX-License-Identifier: Apache-2.0

// Package allreduce lets the processes of a job compute together: sums of vectors
// over all of them, broadcasts, gathers of small records, barriers.
//
//	g, err := allreduce.Join(ctx, allreduce.Config{
//		Server: "gateway:26543", Job: spantree.Job{UniqueID: 7},
//		Rank: 3, Total: 8,
//	})
//	…
//	defer g.Close()
//	err = g.AllReduce(ctx, allreduce.Vec(gradient).Named("gradient"), allreduce.Sum)
//
// The server (package spantree) brings the ranks of a job together and says who
// is lost; the vectors never cross it. They go along a tree of connections between
// the ranks, opened when the job is wired and kept until it ends. A child connects
// to its parent and both show the token of the epoch; who cannot is dropped,
// with a line in the log.
//
// # Same bits
//
// The result of a collective is the same on all ranks, to the last bit, and the same
// in every run with the same inputs: the order of additions follows from the number
// of ranks alone (package schedule), not from who comes first, nor from the
// transport, the chunk size or the number of processors.
//
// # Nothing is copied, nothing allocated
//
// A [Vector] is a view of the caller's memory. A collective sends from it and receives
// into it, and lets go of it when it returns, whatever it returns. After the first
// calls of a size no call allocates.
//
// # Nobody hangs
//
// A group is watched by heartbeats to the server, and by a reader on every
// connection, also when no collective is under way. Two clocks run in a
// collective: for a rank that has not entered it there is no limit while it lives
// (but Config.MaxWait), and every ten seconds the log says who is waited for;
// once two neighbours are in it, no byte moved between them for Config.Stall is
// the end.
//
// A job fails as a whole. Every rank returns the same root cause: the verdict of the
// server, which neighbours also pass along the tree. The errors are
//
//	*LostError      a rank was lost, or gave up (Fail, a cancelled context, …)
//	*DeadlineError  no progress
//	*MismatchError  two ranks made different calls; it shows both
//	ErrLeft         a vw worker left after the last pass, as it may
//	ErrClosed       the group is closed
//
// in words such as
//
//	rank 3: all-reduce #17 (gradient, 64 MiB): 12 s, waiting for rank 7 (h7:26550), 41 MiB received: lost rank 7 (h7): connection lost
//
// A cancelled context in the middle of a collective fails the job too: the others
// wait for this rank's bytes. After a failure all further collectives return
// its error.
//
// # Jobs with vw workers
//
// Where a real vw worker is in the job, or the server is vw's own, all ranks speak
// vw's raw stream over vw's tree (Stream tells). It knows sums of float32, in
// vw's sequence of calls, and nothing else; see [Group.Leaving] for its end.
//
// # Steps
//
// Training is a [Machine] of steps, Work, Exchange, Commit, that [Group.Run]
// drives; [Group.Finish] ends the job so that no rank exits before all files are
// delivered. [Local] is a job of one rank: the same program on one machine.
package allreduce
