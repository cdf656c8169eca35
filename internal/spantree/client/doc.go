// SPDX-License-Identifier: Apache-2.0

// Package client joins a job at the spanning-tree server and stays its member.
//
//	m, err := client.Join(ctx, client.JoinConfig{
//		Server: "gateway:26543", Job: protocol.Job{UniqueID: 7}, Rank: 3, Total: 4,
//		Advertise: ":30001", Options: "bits=18 loss=logistic",
//	})
//	defer m.Close()
//	// read the data …
//	w, err := m.Ready(ctx, shard) // returns when the job is wired: w has the addresses
//	// train; <-m.Ended(w) reports the end of the epoch, m.EndOf(w) its cause
//	files, err := m.Complete(ctx, digest, []string{"model"}) // all ranks have the same model
//	// deliver the files, with m.Done for each
//	err = m.Bye(ctx)
//
// A [Member] has a goroutine that reads and one that sends heartbeats. Both end
// with Close. A member of a job that recovers connects again when it loses the
// server ([JoinConfig.ServerTimeout]). A member of any other job works on
// without the server, and fails at the end, where it needs it.
//
// With vw's own server at the far end, the member is a vw worker: it gets a
// parent and its number of children, and no more.
//
// [Status] and [Cancel] ask a server from outside of a job.
package client
