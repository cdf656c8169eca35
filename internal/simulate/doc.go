// SPDX-License-Identifier: Apache-2.0

// Package simulate computes how long an all-reduce takes on a network that is not there: thousands of hosts, any rate,
// racks with slow uplinks. The ranks run the programs of package schedule, as they do in a job. The network and the
// processors are a model.
//
//	r, err := simulate.AllReduce(simulate.Config{
//		Ranks: 1000, Bytes: 64 << 20,
//		Network:   simulate.Network{Rate: 1e9, Latency: 50 * time.Microsecond, Headers: simulate.EthernetHeaders},
//		Processor: simulate.Usual,
//	})
//	fmt.Println(r.Schedule, r.Time)
//
// The package is pure: no sockets, files, clocks, goroutines or random numbers. Equal configurations have equal results.
//
// # The model
//
// Time is virtual, and moves from event to event.
//
//   - A rank follows its schedule.Program by a schedule.Run, as the engine of a job does: it sends a part of a step as soon
//     as the steps before have passed these bytes. Parts have Config.Chunk bytes. One part of each peer is written and one is
//     joined at a time.
//   - The processor of a rank does one thing at a time, in the order in which work comes.
//   - A connection holds at most Network.Window bytes, and one part more, between the write and the join. Then its sender
//     waits.
//   - A host has a link with two directions, a rack an uplink with two. Each direction serves the connections that have
//     something to send in turn, Network.Segment bytes at a time. Together with windows, round-robin service leads to
//     max-min fair rates (Hahne, "Round-Robin Scheduling for Max-Min Fairness in Data Networks", 1991).
//   - A link begins to send a segment when its head arrives, as packets are short. Only a faster link waits for its tail:
//     it serves the segment without a break.
//   - Messages between ranks of one host go through its memory, at 8 GB/s for all of them together. gvw's ranks of one host
//     may also sum among themselves first (schedule.Spec.Quotient); this is not simulated.
//
// # What is left out
//
// No packet is lost, and TCP's congestion control is not modelled: a connection has its fair share at once. Where many
// connections end at one host, real shares are unequal, so that a direct exchange takes longer than simulated. Switches are
// not a bottleneck inside of a rack. Checksums are part of Processor.Move.
//
// # How precise it is
//
// tests/simulated_test.go compares the simulation with jobs of 8 ranks that really run, each behind links of a
// bounded rate. docs/simulation.md has the figures.
package simulate
