// SPDX-License-Identifier: Apache-2.0

// Package client joins a job at the spanning-tree server, and keeps its
// membership.
//
//	m, err := client.Join(ctx, client.JoinConfig{
//		Server: "gateway:26543", Job: protocol.Job{UniqueID: 7}, Rank: 3, Total: 4,
//		Advertise: ":30001", Options: "bits=18 loss=logistic",
//	})
//	defer m.Close()
//	// read the data …
//	w, err := m.Ready(ctx, shard) // waits until the job is wired: w has the addresses
//	// train; <-m.Ended(w) reports the end of the epoch, m.EndOf(w) its cause
//	files, err := m.Complete(ctx, digest, []string{"model"}) // all ranks have the same model
//	// deliver the files, with m.Delivered for each
//	err = m.Finish(ctx)
//
// # Epochs
//
// In a job that recovers, the loss of a rank or of a link ends the epoch:
// [Member.Ended] is closed, and [Member.EndOf] returns the same cause on every
// rank. [Member.Next] then waits for the wiring of the next epoch, which names
// the resume point and the data that this rank is missing or owes. When the
// job itself has ended for this rank, [Member.Over] is closed.
//
// # Contract
//
//   - The methods of a [Member] are safe for concurrent use, and every wait
//     ends with its context. Close ends waits for the start, the next epoch and
//     the end of the job with [ErrClosed], unless the job has ended before.
//   - A member has a goroutine that reads, one that sends heartbeats, and one
//     that watches for the silence of the server. With JoinConfig.Clock there is
//     one that sends the first CLOCK, and with JoinConfig.Logs one that sends
//     log lines. All end with Close.
//   - JoinConfig.Waiting and the methods of JoinConfig.Steps are called
//     without a lock held, and must return at once.
//   - A member of a job that recovers reconnects when it loses the server, for
//     up to [JoinConfig.ServerTimeout]. It repeats the frames of its replay
//     log, from which a restarted server learns what it has forgotten. Any
//     other member continues without the server, and fails at the end.
//   - A pause of the process does not count as silence of the server.
//
// # vw's own server
//
// At vw's own server the member is a vw worker. It gets its parent and the
// number of its children, and nothing else. [Join] refuses that server if the
// configuration needs more.
//
// # Outside of jobs
//
// [Status] lists the jobs of a server, [Logs] returns the last log lines of
// ranks, and [Cancel] ends a job.
package client
