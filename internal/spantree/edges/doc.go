// SPDX-License-Identifier: Apache-2.0

// Package edges decides which edge between two live ranks is faulty, and which
// end of it is evicted. It consists of two functions of graphs, and keeps no
// state.
//
// Edges may stall, break or corrupt bytes. A rank that detects this sends ASK
// to the server, and all ranks put the rank that they wait for into their
// heartbeats:
//
//	g := edges.Graph{Now: now, Nodes: map[int]edges.Node{}}
//	for rank, a := range holders {
//		g.Nodes[rank] = a.waits.Node(epoch) // a.waits = a.waits.Next(…) at each heartbeat
//	}
//	near, far, why := g.Charge(edges.Ask{From: 3, To: 7, Fault: protocol.EdgeStalls, At: asked})
//
// The rank that sends ASK is seldom an end of the faulty edge: a rank that
// waits makes its own neighbours wait. [Graph.Charge] follows the chain of
// ranks that wait for each other to the edge at its end. It charges no edge
// while a rank of the chain is at work, or has sent no heartbeat since the ASK.
//
// [Evictee] takes the edges that were charged before, and those that have not
// opened. It returns the end that is common to most of them, or neither end
// if the charge is the first one between the two.
//
// # Contract
//
//   - The charged edge connects two ranks of the epoch.
//   - A rank at work is never charged for a stall.
//   - The decisions depend neither on the numbers of the ranks, except where
//     nothing else distinguishes two ends, nor on the order of a map.
package edges
