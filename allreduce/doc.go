// SPDX-License-Identifier: Apache-2.0

// Package allreduce lets the processes of a job compute together: sums of vectors
// over all of them, broadcasts, gathers of small records, barriers.
//
//	g, err := allreduce.Join(ctx, allreduce.Config{
//		Server: "gateway", Job: allreduce.Job{UniqueID: 7},
//		Rank: 3, Total: 8,
//	})
//	…
//	defer g.Close()
//	err = g.AllReduce(ctx, allreduce.Vec(gradient).Named("gradient"), allreduce.Sum)
//	…
//	err = g.Done(ctx)
//
// Under a launcher [ConfigFromEnv] makes the Config: gvw run -n 4 -- PROGRAM starts the
// ranks and their server on one machine.
//
// The server (the program spanning_tree) brings the ranks of a job together and says who
// is lost; the vectors never cross it. They go from rank to rank, over a tree of
// connections that is opened when the job is wired, and others that open when a
// collective first needs them: the higher rank connects to the lower. Both ends
// prove that they have the token of the epoch, and the secret of Config.Credentials if
// there is one; who cannot is dropped, with a line in the log. With a secret every frame
// that follows has a tag, so that nobody on the way changes, repeats or replaces one.
//
// # What there is
//
//	AllReduce, AllReduceInto     the reduction of all, on all ranks
//	Reduce                       on one
//	ReduceScatter                each rank gets its Segment of it
//	Broadcast                    one rank's vector, to all
//	AllGather, Gather, Scatter   segments to all, to one, from one
//	AllGatherV                   a small record of each rank, of any length
//	SendRecv                     from one rank, to another
//	Barrier
//
// A reduction joins elements by Sum, Product, Min, Max or an operation of the
// program's own, see [NewOp]. The Accumulate methods are vw's, on top.
//
// # Same bits
//
// The result of a collective is the same on all ranks, to the last bit, and the same
// in every run with the same inputs: the order of additions follows from the number
// of ranks, the length of the vector and the schedule alone (package schedule), not
// from who comes first, nor from the driver, the chunk size or the number of
// processors. Config.Schedule chooses the schedule.
//
// # Nothing is copied, nothing allocated
//
// A [Vector] is a view of the caller's memory. A collective sends from it and receives
// into it, and lets go of it when it returns, whatever it returns. After the first
// calls of a size no call allocates.
//
// # Who moves the bytes
//
// Over TCP on Linux the goroutine that calls a collective moves its bytes itself
// (DriverPoll): nobody is woken for a message. It tries for a tenth of a millisecond,
// then sleeps. Elsewhere, and on other networks, each connection has a goroutine that
// reads and one that writes (DriverConn). Both speak alike, so ranks may differ.
//
// Where all ranks of a job, up to 64, run on one Linux machine, an all-reduce goes through
// memory that they share (Group.SharedMemory tells): each copies its vector in,
// piece by piece, sums a part of it as the schedule says, and copies the result
// out. Vectors from [Alloc] lie there already and are not copied.
//
// In a job of several machines the ranks of each share memory too (Group.SharedWith). Where
// their sum is a part of that of all, and the rest of it is that of a smaller job, they
// reduce among themselves first, and the first of them goes on for all
// (schedule.Spec.Quotient); else, with a ring for one, each goes on for itself. The order of
// the additions is the same either way.
//
// Whatever else two such ranks send to each other, from the first collective that needs
// it on, goes through a pipe in memory in place of their connection, which stays as the
// way to wake each other, and to notice an end.
//
// Ranks may share memory if their addresses have the same host. Whether they do is found out
// when the job is wired, by two small all-reduces over the tree: they must see the same boot
// id, and read the nonce of the segment in it. Config.NoSharedMemory forbids it.
//
// # RDMA
//
// Where machines are joined by InfiniBand or RoCE, Config.Transport lets what goes between
// them go over verbs (package verbs). Edges open over TCP as ever; when all ranks have said in a
// small all-reduce that they can, each direction of an edge moves to a queue pair as soon as both
// ends are ready (lift.go), and the connection stays to tell when the other rank is
// gone. The bits are the same. Vectors from [Alloc] and [Register] are sent from where
// they are. Group.Verbs tells the device.
//
// # Nobody hangs
//
// A group is watched by heartbeats to the server, and on every open connection, also
// when no collective is under way. Two clocks run in a
// collective: for a rank that has not entered it there is no limit while it lives
// (but Config.MaxWait), and every ten seconds the log says who is waited for;
// once two neighbours are in it, no byte moved between them for Config.Stall is
// the end. Where one that lives seems not to enter for that long, the server is asked,
// which hears both: their edge may carry nothing any more. So it is, in epochs after the first,
// where a connection does not open for that long, or one rank alone takes it for open.
//
// A job fails as a whole, unless it recovers from losses (see Steps). Every rank returns the same root cause: the verdict of the
// server, which neighbours also tell each other. The errors are
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
// Who waits for something else between two collectives, say for input, learns of a
// failure by [Group.Failed].
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
//
// # Losses
//
// With Config.OnLoss Wait a job outlives the loss of any rank, at any instant. Its machine
// is [Recoverable]; the server decides, and this is what it does:
//
//	EPOCH_END     ends the epoch; every rank fences it, and says which step it has completed
//	         (steps.go)
//	EPOCH_START    begins the next one, at the newest step that any rank has completed, once
//	         another attempt of the lost rank is there (epoch.go)
//
// A rank that is behind takes the results of that step from one that has them, a new one
// the state (transfer.go, serve.go), while the other's Work goes on. Nobody's Work is
// done twice but the lost rank's, and the model has the bytes of an undisturbed run.
// Shrink goes on without the rank ([Shrinker]); Elastic lets the job start without those that
// have not come in time; Checkpoints are for the case that nobody is
// left. A program that calls collectives without Run gets an *InterruptedError when
// an epoch ends.
//
// storm_test.go plays thousands of such jobs in memory, with faults drawn from a seed.
package allreduce
