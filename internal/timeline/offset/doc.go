// SPDX-License-Identifier: Apache-2.0

// Package offset estimates by how much the clock of another process is ahead of the local clock, from exchanges of messages.
//
//	c, err := offset.Fit(samples)
//	ahead, bound := c.At(local)   // the other clock shows local + ahead, ± bound
//
// # Method
//
// In an exchange this process sends a message at Sent and gets the answer at Received, both by the local clock. The other
// process reads its clock, Remote, in between. At that moment the local clock showed a time from Sent to Received. The
// offset was therefore from Remote-Received to Remote-Sent, whatever the delays in both directions.
//
// Clocks do not run at the same rate, so an exchange bounds the offset at other times less well: its interval grows by
// Rate on each side. The offset at a time lies in the intersection of the intervals of all exchanges. At returns the
// middle of the intersection and half its width. An exchange with a short round trip therefore narrows the result most,
// and exchanges that are repeated correct the drift.
//
// # Contract
//
// The true offset is within the bound at all times, for any delays, as long as the rates of the clocks differ by at most
// Rate. That is [MaxRate], unless exchanges contradict each other. Then it is the smallest of twice, four times, …
// MaxRate at which they do not. If there is none below [jump], a clock has jumped, and Fit returns an error.
//
// The package is pure. Times are in nanoseconds.
package offset
