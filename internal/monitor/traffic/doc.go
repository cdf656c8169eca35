// SPDX-License-Identifier: Apache-2.0

// Package traffic counts the bytes, the collectives and the time of a rank.
//
//	m := traffic.New(time.Now())
//	m.Begin(time.Now(), traffic.Computing) // the data are read
//	m.Collective(began, time.Now(), traffic.AllReduce, 1<<20, waited)
//	m.Moved(traffic.Edge{Rank: 3, Via: traffic.TCP, Sent: 512, Received: 512})
//	counts := m.Counts(time.Now(), time.Time{}, 0)
//
// A rank sends its counts to the server once a second. The server adds up those of all attempts of a job ([Counts.Add]),
// shows them as metrics, and the page shows their rates.
//
// # Time
//
// The time of a rank is divided into four parts. It loads until its data are read. In a collective it waits until the
// vector of each rank from which it receives has begun to arrive, and uses the network for the rest. Where ranks share memory it waits
// while it sleeps. It computes in all other time. [Counts.Elapsed] is the sum. The rate of an edge is the difference of two
// counts divided by that of their times, so that it does not depend on delays of the messages.
//
// # Bounds
//
// Counts have the [MaxEdges] edges with the most bytes. Sums by class of edge include all of them.
//
// # Contract
//
// A nil Meter counts nothing. A Meter is safe for concurrent use. Counts are cumulative: those of an attempt never
// decrease.
package traffic
