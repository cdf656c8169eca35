// SPDX-License-Identifier: Apache-2.0

// Command speculation measures the gain from second attempts of slow ranks.
//
//	go run ./bench/speculation -ranks 20
//
// A job of many ranks makes a number of passes, and waits after each for the slowest. Some of
// its ranks are slow: half of them from the start, the others from a later pass on. The job runs
// twice: without duplicates, and with a launcher that starts another attempt of a rank whose pass takes much
// longer than those of the others, as Hadoop's speculative execution does. In the first pass the
// attempt that is ready first keeps the rank; in a later one the server hands it over at the
// end of a pass (internal/spantree/core, handover.go).
//
// # What is real
//
// The server, the groups, their connections over the loopback, the sums and their bits, the
// decisions are real. The work over the data is a sleep, so that twenty ranks fit one machine. Each attempt is
// a goroutine, or with -processes a process of this program, and then GVW_FAULT makes the slow ranks
// slow. Both runs must end with the same state.
package main
