// SPDX-License-Identifier: Apache-2.0

// Package job computes how much time the losses of ranks cost a job. The machine of the server is the real one (package
// core): it decides when a rank is lost, who replaces it, where the next epoch starts and who lacks data. Ranks, launcher,
// failures and time are simulated.
//
//	r, err := job.Run(job.Config{
//		Ranks: 1000, Steps: 200, Step: 20 * time.Second, Load: time.Minute, Restart: 30 * time.Second,
//		Fetch: 5 * time.Second, Between: 1000 * time.Hour, OnLoss: protocol.Wait, Spares: 4,
//	})
//	fmt.Println(r.Lost, r.Losses)
//
// The package is pure. Equal configurations, seed included, have equal results.
//
// # The model
//
//   - All ranks join at time 0, and are READY when they have loaded their data. A step takes the same time always, since
//     all ranks wait for the slowest. The time of a step is a value of the configuration; package simulate computes the
//     part of its all-reduce.
//   - Each attempt, spares included, ends after a random time with an exponential distribution. Its connection closes, or,
//     in a share of the cases, it falls silent, as when its host fails.
//   - The launcher starts another attempt after a time. It joins as the same rank, or as a spare if the job has spares. With
//     protocol.Shrink there is none after the start of the job.
//   - A step that an epoch has not completed is made again from its beginning. A rank that lacks the state fetches it and
//     makes its part of the step afterwards.
//   - Frames take no time. Heartbeats and ticks are simulated where they matter: the last heartbeat of an attempt, and four
//     heartbeats in each Config.LostAfter while a rank is silent or missing.
//
// The end of a job, with COMPLETE and the delivery of its files, is not simulated.
package job
