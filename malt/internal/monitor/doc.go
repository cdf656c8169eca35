// SPDX-License-Identifier: Apache-2.0

// Package monitor decides which connection a rank reports to the server as broken. It is a state
// machine without network, clock or goroutines: the caller passes what it observes and the time.
//
//	m := monitor.New(monitor.Config{Silence: 20 * time.Second, Again: 5 * time.Second})
//	for each tick {
//		for each open connection {
//			m.Observe(rank, bytes read so far, whether this rank has stopped reading, now)
//		}
//		if r, due := m.Report(now); due {
//			… ask the server about the connection to r.Rank …
//		}
//	}
//
// A connection is broken if a read or a write on it has failed, or if nothing has arrived on it
// for Config.Silence. Ranks send each other a message at each tick, so that a connection without
// traffic is not silent. A rank that has stopped reading, for example because it has not created
// the vector yet, observes no silence.
//
// The monitor accuses no rank of being dead. One rank sees only its own connections, and a broken
// one may be the fault of either end. The server has the reports of all ranks: a rank is dead if it
// has reported its own failure, if its connection to the server has ended, or if the reports of the
// other ranks leave no healthy rank that reaches it.
//
// # Order of reports
//
// The connection that failed first is reported first, and again every Config.Again until the server
// has ended the epoch. A rank that reports a failure closes its connections later, so the first
// failure is the one nearest to the cause.
package monitor
